package backfill

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// badConnection is a result code of requests of the first version only.
const badConnection = "badConnection"

// deprecate marks the answers of the first generation, those to strangers included: since when it is deprecated (RFC
// 9745), where that is documented, what comes after it (RFC 5829), and when it may end (RFC 8594) if that was decided.
func (s *service) deprecate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Deprecation", "@1767225600") // 2026-01-01: it was deprecated before this service was begun
		header.Set("Link", `</openapi.json>; rel="deprecation"; type="application/json", `+
			`<../v2/backfill>; rel="successor-version"`)
		if end := s.Settings.Sunset; !end.IsZero() {
			header.Set("Sunset", end.UTC().Format(http.TimeFormat))
		}
		return next(c)
	}
}

// noMatch is the contract's error for a search that found no match, for whatever reason.
const noMatch = "No Match Found"

// searchV1 answers POST /backfill of the deprecated first version: one run of a function for one server. The tickets of
// the best match that it proposes are assigned to the server at once.
func (s *service) searchV1(c echo.Context) error {
	text, err := web.ReadJSON(c)
	if err != nil {
		return err
	}
	r := definition.NewReader(text, s.Definitions)
	in := readV1Request(r)
	if err := r.Err(); err != nil {
		return problem.New(problem.Invalid, "%s", err) // all faults; they never repeat settings
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if err := s.checkFunction(ctx, project, in); err != nil {
		return err
	}
	if err := s.checkBudget(ctx, project); err != nil {
		return err
	}
	matches, err := s.search(ctx, project, in)
	if err != nil {
		return err
	}
	for _, p := range matches {
		out, err := s.fill(ctx, project, in.connection, p)
		if err != nil {
			return err
		}
		if out != nil {
			return c.JSON(http.StatusOK, out)
		}
	}
	return c.JSON(http.StatusOK, response.BackfillV1Result{AssignedTickets: []response.Ticket{},
		AssignmentProperties: response.ObjectOrNull(nil), Error: noMatch})
}

// fill assigns the tickets of a match; nil if one of them does not wait any more.
func (s *service) fill(
	ctx context.Context, project, connection string, p *candidate,
) (*response.BackfillV1Result, error) {
	results := make([]*pb.Assignment, len(p.Tickets))
	for i, id := range p.Tickets {
		results[i] = assignment.Of(p.Proposal, id, connection, "")
		results[i].Trace = telemetry.SpanRef(ctx)
	}
	tickets, refused, _, err := s.Store.AssignWaiting(ctx, project, p.Proposal, p.Tickets, results, s.Readable)
	if err != nil || refused != "" {
		return nil, err
	}
	s.traceAssigned(ctx, project, tickets)
	s.notifyAssigned(ctx, project, tickets)
	shared := p.GetMatchProperties()
	if len(shared) == 0 {
		shared = p.GetAssignmentProperties()
	}
	out := &response.BackfillV1Result{AssignmentProperties: response.ObjectOrNull(shared)}
	for _, t := range tickets {
		out.AssignedTickets = append(out.AssignedTickets, response.NewTicket(t))
	}
	return out, nil
}

// checkFunction is an Invalid error if the project has no function of this name, or the function no such upload.
func (s *service) checkFunction(ctx context.Context, project string, in v1Request) error {
	f, err := s.Store.Function(ctx, project, in.function)
	switch {
	case problem.KindOf(err) == problem.NotFound:
		return problem.New(problem.Invalid, "function.name: the project has no function %q", in.function)
	case err == nil && in.upload != 0 && uploads.Of(f, in.upload) == nil:
		return problem.New(problem.Invalid, "function.upload: upload %d of function %q is not kept", in.upload, in.function)
	}
	return err
}

// v1Request is BackfillConfig of the contract.
type v1Request struct {
	connection, function string
	upload               int64
	pools                map[string]*pb.Pool
	settings             []byte
	queue                string
}

// readV1Request checks BackfillConfig of the contract.
func readV1Request(r *definition.Reader) (in v1Request) {
	given, ok := r.Object("",
		definition.Member{Name: "connection", Read: func(at definition.Path) {
			text, ok := r.Text(at)
			in.connection = text
			if reason := assignment.ConnectionProblem(text, maxConnection); reason != "" {
				r.Add(badConnection, at, "%s", reason)
			} else if ok && text == "" {
				r.Add(badConnection, at, "empty, ip:port of the server is expected")
			}
		}},
		definition.Member{Name: "function", Read: func(at definition.Path) {
			f := r.Function(at)
			in.function, in.upload = f.Name, f.Upload
		}},
		definition.Member{Name: "pools", Read: func(at definition.Path) { in.pools = r.Pools(at) }},
		definition.Member{Name: "config", Read: func(at definition.Path) { in.settings = r.Settings(at) }},
		definition.Member{Name: "queue", Read: func(at definition.Path) { in.queue = r.Queue(at) }},
	)
	if ok && !given["connection"] {
		r.Add(badConnection, "connection", "required, ip:port of the server")
	}
	if ok && !given["function"] {
		r.Add(definition.MissingTargetFunction, "function", "required, an object with the name of an uploaded function")
	}
	return in
}

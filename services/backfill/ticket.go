package backfill

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

func (s *service) create(c echo.Context) error {
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	var in struct{ contents }
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	b, err := in.record(s.Fields)
	if err != nil {
		return err
	}
	b.Id, b.Match = state.NewID(s.Store.Now()), auth.From(c).Match
	position, err := s.Store.CreateBackfill(c.Request().Context(), project, b)
	if err != nil {
		return err
	}
	s.Bus.PokeTickets(c.Request().Context(), project, position)
	return c.JSON(http.StatusCreated, map[string]string{"Id": b.GetId()})
}

func (s *service) replace(c echo.Context) error {
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	var in replacement
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	id := c.Param("backfill")
	if in.ID != nil && *in.ID != "" && *in.ID != id {
		return problem.New(problem.Invalid, "Id: %.80q is not the backfill ticket in the path", *in.ID)
	}
	b, err := in.record(s.Fields)
	if err != nil {
		return err
	}
	b.Id, b.Match = id, requiredMatch(c, id)
	position, err := s.Store.ReplaceBackfill(c.Request().Context(), project, b)
	if err != nil {
		return err
	}
	s.Bus.PokeTickets(c.Request().Context(), project, position)
	return c.JSON(http.StatusOK, bodyOf(b))
}

// repeatJoined is for how long approvals repeat a ticket that joined before.
const repeatJoined = 20 * time.Second

func (s *service) approve(c echo.Context) error {
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	ctx, id := c.Request().Context(), c.Param("backfill")
	a, err := s.Store.ApproveBackfill(ctx, project, id, state.ApprovalOptions{
		Readable: s.Readable, RepeatJoined: repeatJoined, Rate: s.Settings.approvals(),
		Match: requiredMatch(c, id), Trace: telemetry.SpanRef(ctx),
	})
	if err != nil {
		return err
	}
	s.metrics.recordApproval(ctx, project, a, s.Store.Now())
	s.Bus.PokeTickets(ctx, project, a.Position)
	s.traceAssigned(ctx, project, a.Assigned)
	s.notifyAssigned(ctx, project, a.Assigned)
	return c.JSON(http.StatusOK, approvalOf(a))
}

func (s *service) delete(c echo.Context) error {
	project, err := projectOf(c)
	if err != nil {
		return err
	}
	id := c.Param("backfill")
	there, position, err := s.Store.DeleteBackfill(c.Request().Context(), project, id, requiredMatch(c, id))
	if err != nil {
		return err
	}
	if !there {
		c.Response().Header().Set("X-Deleted", "false")
	}
	s.Bus.PokeTickets(c.Request().Context(), project, position)
	return c.NoContent(http.StatusNoContent)
}

// requiredMatch is the match that a backfill ticket must belong to for this caller, "" if the caller may use it in any
// case. For a server with its own token, backfill tickets of others do not exist.
func requiredMatch(c echo.Context, id string) string {
	if p := auth.From(c); !p.MayUseBackfill(id, "") {
		return p.Match
	}
	return ""
}

// notifyAssigned wakes the requests that wait for the tickets' results.
func (s *service) notifyAssigned(ctx context.Context, project string, tickets []*state.Ticket) {
	ids, results := make([]string, len(tickets)), make([]*pb.Assignment, len(tickets))
	for i, t := range tickets {
		ids[i], results[i] = t.Body.GetId(), t.Assignment
	}
	s.Bus.NotifyResults(ctx, project, ids, results)
}

// projectOf is the project in the path, or the one that the token names where the path has none.
func projectOf(c echo.Context) (string, error) {
	project := auth.ProjectOf(c)
	if project == "" {
		return "", problem.New(problem.Invalid,
			"the token names no single project: use /<project>/matchmaking/api/v2/backfill")
	}
	return project, nil
}

// traceAssigned links a request to the sampled tickets that it assigned, and records in their traces that they have a
// result.
func (s *service) traceAssigned(ctx context.Context, project string, tickets []*state.Ticket) {
	span, now := trace.SpanFromContext(ctx), time.Now()
	for _, t := range tickets {
		mark := t.Body.GetTrace()
		if len(mark) == 0 {
			continue
		}
		if span.IsRecording() {
			for _, link := range telemetry.Links(mark) {
				span.AddLink(link)
			}
		}
		s.Tracer.RecordStage(ctx, telemetry.Stage{
			Name: "ticket assigned", Project: project, Ticket: t.Body.GetId(), Span: mark, Cause: t.Assignment.GetTrace(),
			Ended: now,
		})
	}
}

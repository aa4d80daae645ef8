package ticket

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

func (s *service) create(c echo.Context) error {
	owner, err := auth.PlayerOf(c)
	if err != nil {
		return err
	}
	var in creation
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	if err := in.check(s.Fields, auth.From(c)); err != nil {
		return err
	}
	queues, err := fields.CheckQueues(in.Queues)
	if err != nil {
		return err
	}
	key, err := idempotencyKey(c)
	if err != nil {
		return err
	}
	now := s.Store.Now()
	body := &pb.Ticket{Id: state.NewID(now), Owner: owner, Created: now.UnixMilli(), Queues: queues}
	s.traceCreated(c.Request().Context(), c.Param("project"), body)
	request, err := fingerprint(key, in)
	if err != nil {
		return err
	}
	store := func() (created state.Created, err error) {
		ctx, project := c.Request().Context(), c.Param("project")
		err = s.settingsCache.decide(ctx, project, func(settings *pb.ProjectSettings) (err error) {
			created, err = s.store(c, in, state.Creation{Ticket: body, Settings: settings, Readable: s.Readable, Key: key,
				Request: request})
			return err
		})
		return created, err
	}
	if wait := s.preferredWait(c); wait > 0 {
		if leave := s.longPolls.Take(c.Request().Context(), c.Param("project"), waitsAs(c)); leave != nil {
			defer leave()
			return s.createAndWait(c, body, wait, store)
		}
	}
	created, err := store()
	if err != nil {
		return err
	}
	made := &state.Ticket{Body: body}
	_ = s.addUnserved(c.Request().Context(), c.Param("project"), made) // the ticket is stored; a GET tells it
	return c.JSON(http.StatusCreated, response.CreatedTicket{ID: created.ID, UnservedQueues: made.Unserved,
		Running: created.Running})
}

// store stores a ticket as the project's settings want it, or finds an earlier ticket with its key.
func (s *service) store(c echo.Context, in creation, asked state.Creation) (created state.Created, err error) {
	ctx, project := c.Request().Context(), c.Param("project")
	in, err = applyTokenClaims(in, asked.Settings, auth.From(c), s.Fields, func() (map[string]float64, error) {
		return s.Regions.Verify(in.Receipts, c.Request())
	})
	if err != nil {
		if id, known := s.createdBefore(ctx, project, asked); known != nil || id != "" {
			return state.Created{ID: id}, known
		}
		return created, refusal{err}
	}
	body := asked.Ticket
	body.AttributeNames, body.AttributeValues = in.Columns()
	body.Properties = in.Properties
	body.Players = fields.PlayerRecords(in.Players)
	created, err = s.creator.CreateAs(ctx, project, asked)
	if created.ID != "" {
		s.presence.Heard(project, created.ID)
	}
	if created.ID == body.GetId() { // and not by another request with its key
		s.players.Add(ctx, int64(state.PlayerCount(body)), s.projects.Option(project))
	}
	if len(created.Ended) > 0 {
		s.Bus.NotifyEnded(ctx, project, created.Ended, "replaced")
	}
	return created, err
}

// createdBefore is the ticket that this request created before, with its key, by other settings; "" for none.
func (s *service) createdBefore(ctx context.Context, project string, asked state.Creation) (id string, err error) {
	if asked.Key == "" {
		return "", nil
	}
	player := asked.Ticket.GetOwner()
	if err := s.reads.Allow(project, "list of "+player); err != nil {
		return "", err
	}
	return s.Store.CreatedBefore(ctx, project, player, asked.Key, asked.Request)
}

// createAndWait answers 201 with the ticket's id in Location as soon as the ticket is stored, and sends the body when
// the ticket has a result. However else the wait ends, the body is the ticket without a result: the status cannot
// change any more, and a GET tells what has become of the ticket.
func (s *service) createAndWait(c echo.Context, body *pb.Ticket, wait time.Duration,
	store func() (state.Created, error)) error {
	ctx, project, id := c.Request().Context(), c.Param("project"), body.GetId()
	waiter := s.waiters.join(project, id) // before there is a ticket that could get a result
	defer func() { waiter.leave() }()
	made, err := store()
	if err != nil {
		return err
	}
	by := viewer{body.GetOwner(), auth.From(c).Kind == auth.Service}
	t := &state.Ticket{Body: body}
	if made.ID != id { // the request was sent before, so its ticket may have a result
		waiter.leave()
		id, waiter = made.ID, s.waiters.join(project, made.ID)
		if t, err = s.readAs(by, project, id)(ctx); problem.KindOf(err) == problem.NotFound {
			return c.JSON(http.StatusCreated, response.CreatedTicket{ID: id})
		} else if err != nil {
			return err
		}
	}
	waiter.viewer = by
	header := c.Response().Header()
	header.Set(echo.HeaderLocation, "tickets?id="+id) // beside this path, whatever path gateways have before it
	header.Set(web.PreferenceApplied, web.AppliedWait(wait))
	header.Set("X-Accel-Buffering", "no") // nginx would keep the headers back until the body comes
	header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	web.Begin(c, http.StatusCreated, s.Now())
	t, err = waiter.await(ctx, t, wait, s.readAs(waiter.viewer, project, id))
	if err != nil && problem.KindOf(err) != problem.NotFound { // a ticket that was not found was deleted
		s.Log.WarnContext(ctx, "a create that waits was answered early", "project", project, "error", err)
	}
	s.traceRead(ctx, project, t)
	_ = s.addUnserved(ctx, project, t) // the status is sent; a GET tells it
	if err := s.addSeats(project, waiter.viewer, t); err != nil {
		s.Log.WarnContext(ctx, "no seat passes for a create that waits", "project", project, "error", err)
	}
	text, err := web.Marshal(response.Created{Ticket: response.NewTicket(t), Running: made.Running})
	if err != nil {
		return err
	}
	if _, err := c.Response().Write(text); ctx.Err() == nil {
		return err
	}
	return nil // the player has left
}

// reader is a read of a ticket.
type reader struct {
	viewer

	id   string
	read func(context.Context) (*state.Ticket, error)
}

// reader checks the caller and the ticket of a read.
func (s *service) reader(c echo.Context) (*reader, error) {
	player, anyone, err := auth.TicketReader(auth.From(c))
	if err != nil {
		return nil, err
	}
	id, err := ticketID(c)
	if err != nil {
		return nil, err
	}
	project, whose := c.Param("project"), "player "+player
	if anyone {
		whose = "ticket " + id // a game service asks for many players
	}
	if err := s.reads.Allow(project, whose); err != nil {
		return nil, err
	}
	by := viewer{player, anyone}
	return &reader{by, id, s.readAs(by, project, id)}, nil
}

// readAs reads a ticket for a viewer, as a sign of life. To others, and after the viewer deleted it, the ticket does
// not exist.
func (s *service) readAs(by viewer, project, id string) func(context.Context) (*state.Ticket, error) {
	return func(ctx context.Context) (*state.Ticket, error) {
		t, err := s.Store.Ticket(ctx, project, id)
		if err == nil && (!by.anyone && !isOf(t.Body, by.player) || t.IsGoneFor(by.player, by.anyone)) {
			return nil, problem.New(problem.TicketNotFound, "ticket %q was not found", id)
		}
		if err == nil && t.Assignment == nil {
			s.presence.Heard(project, id)
		}
		return t, err
	}
}

func (s *service) get(c echo.Context) error {
	if query := c.QueryParams(); query.Has("player") || query.Has("key") && !query.Has("id") {
		return s.list(c)
	}
	r, err := s.reader(c)
	if err != nil {
		return err
	}
	estimated, err := queryFlag(c, "estimate")
	if err != nil {
		return err
	}
	var t *state.Ticket
	wait := s.preferredWait(c)
	if wait > 0 {
		if leave := s.longPolls.Take(c.Request().Context(), c.Param("project"), r.player); leave != nil {
			defer leave()
		} else {
			wait = 0
		}
	}
	if wait > 0 {
		c.Response().Header().Set(web.PreferenceApplied, web.AppliedWait(wait))
		t, err = s.waiters.wait(c.Request().Context(), c.Param("project"), r.id, wait, r.viewer, r.read)
		if gone := c.Request().Context().Err(); gone != nil {
			return gone // the client is gone, and the answer is not counted
		}
	} else {
		t, err = r.read(c.Request().Context())
	}
	if err != nil {
		return err
	}
	s.traceRead(c.Request().Context(), c.Param("project"), t)
	if estimated {
		s.addEstimate(c.Request().Context(), c.Param("project"), t)
	}
	if !r.anyone {
		t = shownTo(r.player, t)
	}
	if err := s.addUnserved(c.Request().Context(), c.Param("project"), t); err != nil {
		return err
	}
	if err := s.addSeats(c.Param("project"), r.viewer, t); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, response.NewTicket(t))
}

func (s *service) delete(c echo.Context) error {
	player, err := auth.PlayerOf(c)
	if err != nil {
		return err
	}
	id, err := ticketID(c)
	if err != nil {
		return err
	}
	unlessAssigned, err := queryFlag(c, "unlessAssigned")
	if err != nil {
		return err
	}
	if err := s.deletes.Allow(c.Param("project"), player); err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	_, declined, err := s.Store.Leave(ctx, project, state.Leaving{Ticket: id, Player: player, By: player,
		Service: auth.From(c).Kind == auth.Service, Readable: s.Readable, Decline: []string{player}, Keeps: unlessAssigned})
	if unlessAssigned && problem.KindOf(err) == problem.NotFound {
		t, failed := s.readAs(viewer{player: player}, project, id)(ctx)
		if failed == nil && t.Assignment != nil {
			return problem.New(problem.TicketMatched, "ticket %q has its result: it is too late to cancel", id)
		}
	}
	if err != nil {
		return err
	}
	if declined {
		s.Bus.Poke(ctx, project, &pb.Poke{Answered: true})
	}
	s.Bus.NotifyEnded(ctx, project, []string{id}, "deleted")
	return c.NoContent(http.StatusOK)
}

// preferredWait is how long a request prefers to wait.
func (s *service) preferredWait(c echo.Context) time.Duration {
	return web.PreferredWait(c.Request().Header, s.Settings.Wait)
}

// waitsAs is the player whose held requests a create counts to, "" for a game service that acts for many.
func waitsAs(c echo.Context) string {
	if p := auth.From(c); p.Kind == auth.Player {
		return p.Subject
	}
	return ""
}

// ticketID is the query parameter id.
func ticketID(c echo.Context) (string, error) {
	query, err := web.Query(c, "id")
	if err != nil {
		return "", err
	}
	id := query.Get("id")
	switch {
	case id == "":
		return "", problem.New(problem.Invalid, "query parameter id: the ticket's identifier is missing")
	case !isID(id):
		return "", problem.New(problem.TicketNotFound, "the ticket was not found: no ticket has an identifier like this")
	}
	return id, nil
}

// isID reports whether a text can be an identifier.
func isID(id string) bool {
	return len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

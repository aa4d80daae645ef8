package ticket

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/response"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/web"
)

func (s *service) create(c echo.Context) error {
	owner, err := ownerOf(c)
	if err != nil {
		return err
	}
	var in fields.Values
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	if err := in.Check(s.Fields); err != nil {
		return err
	}
	now := s.Store.Now()
	body := &pb.Ticket{Id: state.NewID(now), Owner: owner, Created: now.UnixMilli(), Properties: in.Properties}
	body.AttributeNames, body.AttributeValues = in.Columns()
	s.traceCreated(c.Request().Context(), c.Param("project"), body)
	if err := s.creator.Create(c.Request().Context(), c.Param("project"), body); err != nil {
		return err
	}
	return c.JSONBlob(http.StatusCreated, createResponse(body.GetId()))
}

func (s *service) get(c echo.Context) error {
	owner, anyone, err := auth.TicketReader(auth.From(c))
	if err != nil {
		return err
	}
	id, err := ticketID(c)
	if err != nil {
		return err
	}
	whose := "player " + owner
	if anyone {
		whose = "ticket " + id // a game service asks for many players
	}
	if err := s.reads.Allow(c.Param("project"), whose); err != nil {
		return err
	}
	read := func(ctx context.Context) (*state.Ticket, error) {
		t, err := s.Store.Ticket(ctx, c.Param("project"), id)
		if err == nil && !anyone && t.Body.GetOwner() != owner {
			// To others the ticket does not exist.
			return nil, problem.New(problem.NotFound, "ticket %q was not found", id)
		}
		return t, err
	}
	var t *state.Ticket
	wait := preferredWait(c.Request().Header.Values("Prefer"), s.Settings.Wait)
	if wait > 0 {
		if leave := s.held.take(c.Request().Context(), c.Param("project"), owner); leave != nil {
			defer leave()
		} else {
			wait = 0
		}
	}
	if wait > 0 {
		c.Response().Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait.Seconds())))
		t, err = s.waiters.wait(c.Request().Context(), id, wait, read)
	} else {
		t, err = read(c.Request().Context())
	}
	if err != nil {
		return err
	}
	s.traceRead(c.Request().Context(), c.Param("project"), t)
	return c.JSON(http.StatusOK, response.NewTicket(t))
}

func (s *service) delete(c echo.Context) error {
	owner, err := ownerOf(c)
	if err != nil {
		return err
	}
	id, err := ticketID(c)
	if err != nil {
		return err
	}
	if err := s.deletes.Allow(c.Param("project"), owner); err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if _, err := s.Store.DeleteTicket(ctx, project, id, owner); err != nil {
		return err
	}
	s.Bus.NotifyAssigned(ctx, project, []string{id}) // requests that wait for it learn that it is gone
	return c.NoContent(http.StatusOK)
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
	case len(id) > 64 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", problem.New(problem.NotFound, "the ticket was not found: no ticket has an identifier like this")
	}
	return id, nil
}

// ownerOf is the player whose ticket a request is about. Of two names neither is the right one: a proxy on the way may
// have added one that the client gave already.
func ownerOf(c echo.Context) (string, error) {
	values := c.Request().Header.Values(auth.OnBehalfOf)
	switch len(values) {
	case 0:
		return auth.TicketOwner(auth.From(c), "", false)
	case 1:
		return auth.TicketOwner(auth.From(c), values[0], true)
	}
	return "", problem.New(problem.Invalid, "%s: given more than once", auth.OnBehalfOf)
}

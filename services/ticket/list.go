package ticket

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/response"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/web"
)

// list answers the tickets of a player, the newest first.
func (s *service) list(c echo.Context) error {
	caller, anyone, err := auth.TicketReader(auth.From(c))
	if err != nil {
		return err
	}
	query, err := web.Query(c, "player", "id")
	if err != nil {
		return err
	}
	player := query.Get("player")
	switch {
	case query.Has("id"):
		return problem.New(problem.Invalid, "query parameters id, player: give one of them")
	case !auth.IsPlayer(player):
		return problem.New(problem.Invalid, "query parameter player: up to 256 bytes of printable UTF-8 are expected")
	case !anyone && player != caller:
		return problem.New(problem.Forbidden, "query parameter player: a player lists only tickets of its own")
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if err := s.reads.Allow(project, "list of "+player); err != nil {
		return err
	}
	if !state.ListsOf(s.rules.of(project)).Listed {
		settings, err := s.rules.fresh(ctx, project)
		if err != nil {
			return err
		}
		if !state.ListsOf(settings).Listed {
			return problem.New(problem.Conflict, "this project does not list the tickets of players: its settings have "+
				"neither tickets.listed nor tickets.perPlayer")
		}
	}
	tickets, err := s.Store.TicketsOf(ctx, project, player)
	if err != nil {
		return err
	}
	text := append(make([]byte, 0, usualAnswer), `{"tickets":[`...)
	for _, t := range tickets {
		if t.IsGoneFor(player, anyone) {
			continue
		}
		if t.Assignment == nil {
			s.presence.Heard(project, t.Body.GetId())
		}
		if text[len(text)-1] != '[' {
			text = append(text, ',')
		}
		if !anyone {
			t = shownTo(player, t)
		}
		if err := s.addUnserved(ctx, project, t); err != nil {
			return err
		}
		if text, err = response.AppendTicket(text, t); err != nil {
			return err
		}
	}
	return c.JSONBlob(http.StatusOK, append(text, "]}"...))
}

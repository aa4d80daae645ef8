package ticket

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// list answers the tickets of a player, the newest first, or the one that a create of the caller with a key made.
func (s *service) list(c echo.Context) error {
	caller, anyone, err := auth.TicketReader(auth.From(c))
	if err != nil {
		return err
	}
	query, err := web.Query(c, "player", "id", "key")
	if err != nil {
		return err
	}
	by, player := viewer{caller, anyone}, query.Get("player")
	switch {
	case query.Has("id") || query.Has("player") && query.Has("key"):
		return problem.New(problem.Invalid, "query parameters player, id, key: give one of them")
	case query.Has("key"):
		return s.listCreated(c, by, query.Get("key"))
	case !auth.IsPlayer(player):
		return problem.New(problem.Invalid, "query parameter player: up to 256 bytes of printable UTF-8 are expected")
	case !anyone && player != caller:
		return problem.New(problem.Forbidden, "query parameter player: a player lists only tickets of its own")
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if err := s.reads.Allow(project, "list of "+player); err != nil {
		return err
	}
	if !state.Listed(s.settingsCache.of(project)) {
		settings, err := s.settingsCache.fresh(ctx, project)
		if err != nil {
			return err
		}
		if !state.Listed(settings) {
			return problem.New(problem.TicketsNotListed, "this project does not list the tickets of players: its settings have "+
				"neither tickets.listed nor tickets.perPlayer")
		}
	}
	tickets, err := s.Store.TicketsOf(ctx, project, player)
	if err != nil {
		return err
	}
	return s.answerList(c, player, by, tickets...)
}

// listCreated answers the ticket that a create of the caller with a key made, or none.
func (s *service) listCreated(c echo.Context, by viewer, key string) error {
	player, err := auth.PlayerOf(c) // a key is its player's own
	if err != nil {
		return err
	}
	if !isKey(key) {
		return problem.New(problem.Invalid, "query parameter key: 1 to %d printable ASCII characters are expected",
			longestKey)
	}
	project := c.Param("project")
	if err := s.reads.Allow(project, "list of "+player); err != nil {
		return err
	}
	t, err := s.Store.TicketOfKey(c.Request().Context(), project, player, key)
	if problem.KindOf(err) == problem.NotFound {
		return s.answerList(c, player, by)
	}
	if err != nil {
		return err
	}
	return s.answerList(c, player, by, t)
}

// answerList answers the tickets of a player that exist for the viewer.
func (s *service) answerList(c echo.Context, player string, by viewer, tickets ...*state.Ticket) error {
	project := c.Param("project")
	tickets = slices.DeleteFunc(tickets, func(t *state.Ticket) bool { return t.IsGoneFor(player, by.anyone) })
	if err := s.addUnserved(c.Request().Context(), project, tickets...); err != nil {
		return err
	}
	var answer struct {
		Tickets []response.Ticket `json:"tickets"`
	}
	for _, t := range tickets {
		if t.Assignment == nil {
			s.presence.Heard(project, t.Body.GetId())
		}
		if !by.anyone {
			t = shownTo(player, t)
		}
		answer.Tickets = append(answer.Tickets, response.NewTicket(t))
	}
	return c.JSON(http.StatusOK, answer)
}

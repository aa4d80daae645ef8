package ticket

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// matchAnswer is the body of an answer to a match that asks its players.
type matchAnswer struct {
	Match   string   `json:"match"`
	Accept  *bool    `json:"accept"`
	Players []string `json:"players"`
}

// check is an error that names the member.
func (in *matchAnswer) check(l fields.Limits) error {
	switch {
	case in.Match == "":
		return problem.New(problem.Invalid, "match: required, the match of the ticket's acceptance")
	case !isID(in.Match):
		return problem.New(problem.Invalid, "match: no match has an identifier like this")
	case in.Accept == nil:
		return problem.New(problem.Invalid, "accept: required, true or false")
	case len(in.Players) > l.Players:
		return problem.New(problem.Invalid, "players: %d players, at most %d are allowed", len(in.Players), l.Players).
			Exceeds("ticket-players")
	}
	for i, player := range in.Players {
		if !auth.IsPlayer(player) {
			return problem.New(problem.Invalid, "players.%d: up to 256 bytes of printable UTF-8 are expected", i)
		}
	}
	return nil
}

// answer takes what a player says to the match that asks it. A game service answers for players: for the one that it
// acts for, for those that it names, or for all of the ticket.
func (s *service) answer(c echo.Context) error {
	id, err := ticketID(c)
	if err != nil {
		return err
	}
	var in matchAnswer
	if err := web.Decode(c, &in); err != nil {
		return err
	}
	if err := in.check(s.Fields); err != nil {
		return err
	}
	players, err := answering(c, in.Players)
	if err != nil {
		return err
	}
	whose := "ticket " + id
	if len(players) == 1 {
		whose = players[0]
	}
	ctx, project := c.Request().Context(), c.Param("project")
	if err := s.deletes.Allow(project, whose); err != nil {
		return err
	}
	over, err := s.Store.AnswerMatch(ctx, project, state.Answer{Ticket: id, Match: in.Match, Accept: *in.Accept,
		Players: players})
	if problem.KindOf(err) == problem.Invalid && auth.From(c).Kind == auth.Player {
		return problem.New(problem.TicketNotFound, "ticket %q was not found", id) // to others it does not exist
	}
	if err != nil {
		return err
	}
	if over {
		s.Bus.Poke(ctx, project, &pb.Poke{Answered: true})
	}
	return c.NoContent(http.StatusNoContent)
}

// answering are the players whose answer it is; none means all of the ticket.
func answering(c echo.Context, named []string) ([]string, error) {
	p := auth.From(c)
	if p.Kind == auth.Service && p.HasScope(auth.ScopeAct) && c.Request().Header.Values(auth.OnBehalfOf) == nil {
		return named, nil
	}
	player, err := auth.PlayerOf(c)
	if err != nil {
		return nil, err
	}
	for i, other := range named {
		if other != player {
			return nil, problem.New(problem.Forbidden, "players.%d: this request answers for the player %q alone", i, player)
		}
	}
	return []string{player}, nil
}

// viewer reads a ticket: a player, or with anyone a game service, which may read any ticket.
type viewer struct {
	player string
	anyone bool
}

// isAsked reports whether a ticket's match asks the player, or for a game service any player of the ticket.
func (a viewer) isAsked(t *state.Ticket) bool {
	return t.Acceptance != nil && (a.anyone && len(t.Acceptance.Open) > 0 || slices.Contains(t.Acceptance.Open, a.player))
}

// maxWatched bounds the matches whose answers wake all followers of their tickets, in players. Tickets of larger
// matches are read again later: a match of 1,000 players would cause a million reads.
const maxWatched = 64

// watchMatch makes answers of players to a match wake a waiter, until the next call; nil for none.
func (w *waiter) watchMatch(a *state.Acceptance) {
	match := ""
	if a != nil && a.Players <= maxWatched {
		match = a.Match
	}
	if match == w.match {
		return
	}
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.all.forget(w)
	if w.match = match; match == "" {
		return
	}
	if w.all.asked[match] == nil {
		w.all.asked[match] = map[*waiter]bool{}
	}
	w.all.asked[match][w] = true
}

// forget stops answers from waking a waiter. The caller has the mutex.
func (w *waiters) forget(one *waiter) {
	if one.match == "" {
		return
	}
	delete(w.asked[one.match], one)
	if len(w.asked[one.match]) == 0 {
		delete(w.asked, one.match)
	}
	one.match = ""
}

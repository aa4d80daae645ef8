package clienttest

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"time"

	"matchmaker.dev/pkg/client"
)

// game is a running game that its server fills.
type game struct {
	client.BackfillTicket
	proposed, joined []*ticket
}

// Games returns the running games that servers fill, as the service was told last.
func (s *Service) Games() (games []client.BackfillTicket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.games {
		games = append(games, g.BackfillTicket)
	}
	return games
}

// Join lets players join the running game that was created last, when its server approves next.
func (s *Service) Join(players ...string) {
	s.change(func() {
		if len(s.games) > 0 {
			g := s.games[len(s.games)-1]
			g.proposed = append(g.proposed, s.of(players)...)
		}
	})
}

func (s *Service) createGame(c *call) (int, any) {
	g := new(game)
	c.decode(&g.BackfillTicket)
	g.ID, g.Created, g.RecordVersion = s.id("backfill"), time.Now().UnixMilli(), 1
	s.games = append(s.games, g)
	return http.StatusCreated, map[string]string{"Id": g.ID}
}

// ofGame finds the game that a request is about.
func (s *Service) ofGame(answer func(*call, *game) (int, any)) func(*call) (int, any) {
	return func(c *call) (int, any) {
		i := slices.IndexFunc(s.games, func(g *game) bool { return g.ID == c.PathValue("game") })
		if i < 0 {
			return refuse(http.StatusNotFound, client.CodeBackfillNotFound)
		}
		return answer(c, s.games[i])
	}
}

// updateGame replaces the state of a game; a queue and players that are not given stay. What is proposed waits again.
func (s *Service) updateGame(c *call, g *game) (int, any) {
	old := g.BackfillTicket
	g.BackfillTicket, g.proposed = client.BackfillTicket{}, nil
	c.decode(&g.BackfillTicket)
	g.ID, g.Created, g.RecordVersion, g.AssignedTickets = old.ID, old.Created, old.RecordVersion+1, nil
	if g.Queue = cmp.Or(g.Queue, old.Queue); g.Players == nil {
		g.Players = old.Players
	}
	return http.StatusOK, g.BackfillTicket
}

func (s *Service) deleteGame(_ *call, g *game) (int, any) {
	s.games = slices.DeleteFunc(s.games, func(other *game) bool { return other == g })
	return http.StatusNoContent, nil
}

// repeatJoined is for how long approvals repeat a ticket that joined.
const repeatJoined = 20 * time.Second

func (s *Service) approve(_ *call, g *game) (int, any) {
	in := slices.DeleteFunc(g.proposed, func(t *ticket) bool { return !t.waits() })
	s.match(in, client.Assignment{Connection: g.Connection})
	for _, t := range in {
		t.joined = time.Now()
	}
	joined := slices.DeleteFunc(g.joined, func(t *ticket) bool { return time.Since(t.joined) > repeatJoined })
	g.joined, g.proposed = append(joined, in...), nil
	answer := g.BackfillTicket
	for _, t := range g.joined {
		answer.AssignedTickets = append(answer.AssignedTickets, t.shown(""))
	}
	return http.StatusOK, answer
}

// Result returns how a match ended, as a server said last; nil if none did.
func (s *Service) Result(match string) *client.MatchResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.results[match]
}

// report keeps a result. The same one again changes nothing.
func (s *Service) report(c *call) (int, any) {
	if c.player != "" {
		return refuse(http.StatusForbidden, client.CodeForbidden)
	}
	is, match := &client.MatchResult{Reported: time.Now().UTC()}, c.PathValue("match")
	c.decode(is)
	switch was := s.results[match]; {
	case was != nil && reflect.DeepEqual(was.Teams, is.Teams):
		return http.StatusOK, was
	case was != nil:
		is.Corrections = was.Corrections + 1
	}
	s.results[match] = is
	return http.StatusOK, is
}

func (s *Service) listRegions(*call) (int, any) {
	seconds := 0
	if len(s.regions) > 0 {
		seconds = 60
	}
	return http.StatusOK, client.Regions{Regions: s.regions, ReceiptSeconds: seconds}
}

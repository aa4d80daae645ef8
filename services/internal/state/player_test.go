package state_test

import (
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/state"
)

// group is a ticket of an owner for some players.
func group(id string, n int, players ...string) *pb.Ticket {
	t := ticket(id, n)
	for _, player := range players {
		t.Players = append(t.Players, &pb.Player{Id: player})
	}
	return t
}

func TestEachPlayerMayDeleteTheTicketForAll(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		many := make([]string, 300)
		for i := range many {
			many[i] = "player " + strings.Repeat("é", i%3+1) + string(rune('a'+i%26)) + strings.Repeat(".", i/26)
		}
		for _, c := range []struct {
			by      string
			players []string
			want    uint32 // its number in the event; 0 with refused: not found
			refused bool
		}{
			{by: "ada", players: []string{"ada", "bob"}, want: 1},
			{by: "bob", players: []string{"ada", "bob"}, want: 2},
			{by: "owner-of-t", players: []string{"ada", "bob"}},
			{by: "", players: []string{"ada", "bob"}},
			{by: many[126], players: many, want: 127},
			{by: many[127], players: many, want: 128},
			{by: many[299], players: many, want: 300},
			{by: "ad", players: []string{"ada", "bob"}, refused: true},
			{by: "ada\nbob", players: []string{"ada", "bob"}, refused: true},
			{by: "ada", refused: true},
		} {
			must(t, s.Creator(nil).Create(t.Context(), project, group("t", 0, c.players...)))
			_, err := s.DeleteTicket(t.Context(), project, "t", c.by)
			if c.refused {
				kindOf(t, err, problem.NotFound)
				isWaiting(t, s, "t")
				must(t, second(s.DeleteTicket(t.Context(), project, "t", "")))
				continue
			}
			must(t, err)
			isWaiting(t, s)
			entries, err := s.History(t.Context(), project, nil, 1000)
			must(t, err)
			events := entries[len(entries)-1].Events
			last := events[len(events)-1]
			if last.GetKind() != pb.Event_KIND_CANCELLED || last.GetReason() != "waiting" || last.GetPlayer() != c.want {
				t.Errorf("%q ended the ticket: the event is %v, want player %d", c.by, last, c.want)
			}
		}
	})
}

func TestPlayersCountAsBytesOfTheirTicket(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{TicketMemory: 1}})
		players := []string{strings.Repeat("a", 200), strings.Repeat("b", 200), strings.Repeat("c", 200)}
		must(t, s.Creator(nil).Create(t.Context(), project, group("t", 0, players...)))
		now, err := s.Counts(t.Context(), project)
		if must(t, err); now.Large < 1200 {
			t.Errorf("a ticket with twice 600 bytes of names counts as %d", now.Large)
		}
	})
}

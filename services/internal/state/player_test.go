package state_test

import (
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
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

// A claim that is asked to compare refuses a match, or a proposal to a running game, that has a player twice.
// Promise 2.
func TestClaimRefusesAPlayerTwice(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = time.Minute
		tickets := map[string]*pb.Ticket{
			"a1": {Owner: "ada"}, "a2": {Owner: "ada"}, "b": {Owner: "bob"},
			"c":     {Owner: "ada", Players: []*pb.Player{{Id: "carl"}}}, // ada owns it, and does not play
			"party": {Owner: "zoe", Players: []*pb.Player{{Id: "eve"}, {Id: "bob"}}},
		}
		put := func(id string) {
			t.Helper()
			tickets[id].Id = id
			must(t, s.Creator(nil).Create(t.Context(), project, tickets[id]))
		}
		for id := range tickets {
			put(id)
		}
		createGame(t, s, game("game", 3))
		generation, err := s.Generation(t.Context(), project, "game")
		must(t, err)
		seen := game("game", 3)
		seen.Generation = generation
		for _, c := range []struct {
			tickets string
			twice   bool
		}{
			{"a1 a2", true}, {"a1 b a2", true}, {"b party", true}, {"party b a1", true},
			{"a1 b", false}, {"a1 c", false}, {"a1 party c", false},
		} {
			ids := strings.Fields(c.tickets)
			for kind, one := range map[string]*state.Claim{
				"hosted":  claim(revision, "m"+c.tickets, ids...),
				"direct":  direct(revision, "d"+c.tickets, "1.2.3.4:5", ids...),
				"filling": fill(revision, seen, game("game", 2), ids...),
				"opening": opening(revision, "o"+c.tickets, ids...),
			} {
				if !c.twice && kind != "hosted" {
					continue
				}
				one.Match.Proposal.Compare = true
				mustClaim(t, s, terms, one)
				want := ""
				if c.twice {
					want = "players"
				}
				if one.Refusal != want {
					t.Errorf("%s, %s: refused %q, want %q", kind, c.tickets, one.Refusal, want)
				}
			}
			if !c.twice {
				for _, id := range ids {
					must(t, second(s.DeleteTicket(t.Context(), project, id, "")))
					put(id)
				}
			}
			isWaiting(t, s, "a1", "a2", "b", "c", "party")
			if c.twice {
				p := &pb.Proposal{Compare: true}
				results := make([]*pb.Assignment, len(ids))
				for i := range results {
					results[i] = &pb.Assignment{Connection: "1.2.3.4:5"}
				}
				if _, refused, _, err := s.AssignWaiting(t.Context(), project, p, ids, results, time.Minute); err != nil ||
					refused != "players" {
					t.Errorf("assigned %s: refused %q, %v", c.tickets, refused, err)
				}
			}
		}
		// One refused match leaves the others of its batch alone.
		twice, other := claim(revision, "twice", "a1", "a2"), claim(revision, "other", "a1", "b")
		twice.Match.Proposal.Compare, other.Match.Proposal.Compare = true, true
		mustClaim(t, s, terms, twice, other)
		if twice.Refusal != "players" || other.Refusal != "" {
			t.Errorf("refused %q and %q", twice.Refusal, other.Refusal)
		}
	})
}

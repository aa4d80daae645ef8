package state_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

// Whatever the place of a match is, its tickets leave the waiting set together, get a connection from the place, or
// wait again at their old age. A place that no script knows, for a tournament, is a row of this table and nothing else.
// Promises 2, 4, 5.
func TestMatchesOfAllPlaces(t *testing.T) {
	places := map[string]struct {
		// claim makes the match of a and b, and end gives it the connection x:1.
		claim func(t *testing.T, s *state.Store, revision int64) *state.Claim
		end   func(t *testing.T, s *state.Store, m *pb.Match)
		// outbox: an allocator gets the match.
		outbox bool
	}{
		"hosting": {
			claim: func(_ *testing.T, _ *state.Store, revision int64) *state.Claim { return claim(revision, "m", "a", "b") },
			end:   allocateAndEnd, outbox: true,
		},
		"hosting with a backfill ticket": {
			claim: func(_ *testing.T, _ *state.Store, revision int64) *state.Claim {
				return claimWithBackfill(revision, "m", "g", "a", "b")
			},
			end: allocateAndEnd, outbox: true,
		},
		"a running game": {
			claim: func(t *testing.T, s *state.Store, revision int64) *state.Claim {
				b := game("g", 3)
				b.Connection = "x:1"
				createGame(t, s, b)
				return fill(revision, b, nil, "a", "b")
			},
			end: func(t *testing.T, s *state.Store, _ *pb.Match) {
				approval{approve(t, s, "g", 5)}.assigns(t, s, "x:1", "a", "b")
			},
		},
		"a tournament": {
			claim: func(_ *testing.T, _ *state.Store, revision int64) *state.Claim {
				c := claim(revision, "m", "a", "b")
				c.Match.Place, c.Match.Hosting = "tournament/7", nil
				return c
			},
			end: endWith("x:1", ""),
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
				reserve := func(acceptance int64) (*state.Store, *state.Claim) {
					s := open(state.Options{History: 1000})
					must(t, s.Flush(t.Context()))
					revision, terms := setUp(t, s)
					terms.Approval = 10 * time.Second
					create(t, s, "a", "b", "c")
					c := place.claim(t, s, revision)
					c.Match.Id, c.Match.Acceptance = "m", acceptance
					if mustClaim(t, s, terms, c); c.Refusal != "" {
						t.Fatal(c.Refusal)
					}
					isWaiting(t, s, "c")
					if acceptance > 0 {
						mustSay(t, s, false, true, "a")
						mustSay(t, s, true, true, "b")
						if ended := endAcceptances(t, s); len(ended.Accepted) != 1 {
							t.Fatalf("ended: %+v", ended)
						}
						if again := endAcceptances(t, s); len(again.Accepted) > 0 {
							t.Errorf("it goes on again: %+v", again)
						}
					}
					sent, err := s.At(at(9)).Outbox(t.Context(), project, time.Second, 10)
					if must(t, err); (len(sent) > 0) != place.outbox {
						t.Errorf("an allocator gets %q", sent)
					}
					return s, c
				}
				for _, acceptance := range []int64{0, 20_000} {
					s, c := reserve(acceptance)
					place.end(t, s, c.Match)
					for _, id := range []string{"a", "b"} {
						if got := assigned(t, s, id).GetConnection(); got != "x:1" {
							t.Errorf("%s has %q", id, got)
						}
					}
				}

				s, _ := reserve(0)
				late := s.At(at(11))
				released, _, err := late.ReleaseOverdueMatches(t.Context(), project, 10)
				must(t, err)
				lapsed, err := late.EndOverdueJoins(t.Context(), project, time.Minute, 10)
				if must(t, err); len(released)+lapsed.Games != 1 {
					t.Errorf("released %q, lapsed %+v", released, lapsed)
				}
				isWaiting(t, s, "a", "b", "c")
				order, err := s.OldestWaiting(t.Context(), project, 0)
				if err != nil || !slices.Equal(order, []string{"a", "b", "c"}) {
					t.Errorf("by age: %q, %v", order, err)
				}
			})
		})
	}
}

// allocateAndEnd is what an allocator does.
func allocateAndEnd(t *testing.T, s *state.Store, m *pb.Match) {
	t.Helper()
	begin(t, s, m, state.MatchActive)
	endWith("x:1", "one")(t, s, m)
}

// endWith gives a match a connection.
func endWith(connection, holder string) func(*testing.T, *state.Store, *pb.Match) {
	return func(t *testing.T, s *state.Store, m *pb.Match) {
		t.Helper()
		ended, err := s.EndMatch(t.Context(), project, state.Ending{Match: m, Tickets: state.TicketsOf(m.GetProposal()),
			Results: []*pb.Assignment{{Connection: connection}},
			Outcome: state.Outcome{Holder: holder, Readable: time.Minute, Connection: connection}})
		if err != nil || ended.Status != state.MatchActive || len(ended.Assigned) != 2 {
			t.Fatalf("ended: %+v, %v", ended, err)
		}
	}
}

// A PUT that dies before the tickets wait again rejects all the same: an approval that was under way assigns none.
// Promise 8.
func TestPutThatDiesHalfWayRejects(t *testing.T) {
	s := opener(t, embeddedtest.Redis(t))(state.Options{})
	revision, terms := setUp(t, s)
	terms.Approval = time.Minute
	create(t, s, "a")
	g := game("g", 3)
	createGame(t, s, g)
	must(t, second(s.At(at(0)).ReplaceBackfill(t.Context(), project, game("g", 3)))) // Redis learns the script
	g.Generation++
	c := fill(revision, g, nil, "a")
	if mustClaim(t, s, terms, c); c.Refusal != "" {
		t.Fatal(c.Refusal)
	}
	ctx, dies := context.WithCancel(t.Context())
	var trips atomic.Int64
	s.OnTrips(func(int) {
		if trips.Add(1) == 2 {
			dies()
		}
	})
	if _, err := s.At(at(1)).ReplaceBackfill(ctx, project, game("g", 3)); err == nil {
		t.Fatal("it did not die")
	}
	joined, err := s.At(at(1)).JoinGame(t.Context(), project, c.Match, "g:1")
	if must(t, err); len(joined[0].Assigned) > 0 {
		t.Errorf("an approval that was under way assigned %+v", joined)
	}
	isWaiting(t, s, "a")
}

package state_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// at is a time in seconds after epoch0.
func at(seconds int) time.Time { return epoch0.Add(time.Duration(seconds) * time.Second) }

// game is a backfill ticket of a game with this many free places.
func game(id string, free float64) *pb.Backfill {
	return &pb.Backfill{
		Id: id, Connection: id + ":1", AttributeNames: []string{"free"}, AttributeValues: []float64{free},
		Properties: map[string][]byte{"blob": {0, 255, '\r', '\n', ' '}},
	}
}

func createGame(t *testing.T, s *state.Store, b *pb.Backfill) {
	t.Helper()
	if _, err := s.CreateBackfill(t.Context(), project, b); err != nil {
		t.Fatal(err)
	}
}

// approvals are the options of an approval.
func approvals() state.ApprovalOptions {
	return state.ApprovalOptions{Readable: 10 * time.Minute, RepeatJoined: 20 * time.Second}
}

func approve(t *testing.T, s *state.Store, id string, seconds int) *state.Approval {
	t.Helper()
	a, err := s.At(at(seconds)).ApproveBackfill(t.Context(), project, id, approvals())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// idsOf returns the sorted ids of tickets.
func idsOf(tickets []*state.Ticket) []string {
	ids := []string{}
	for _, t := range tickets {
		ids = append(ids, t.Body.GetId())
	}
	slices.Sort(ids)
	return ids
}

// assigns fails the test unless an approval assigned exactly these tickets, to this connection.
func (a approval) assigns(t *testing.T, s *state.Store, connection string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := idsOf(a.Assigned); !slices.Equal(got, want) {
		t.Fatalf("the approval assigned %v, want %v", got, want)
	}
	for _, one := range a.Assigned {
		stored := assigned(t, s, one.Body.GetId())
		if diff := cmp.Diff(one.Assignment, stored, protocmp.Transform()); diff != "" {
			t.Fatalf("the approval and the ticket %s differ: %s", one.Body.GetId(), diff)
		}
		if stored.GetConnection() != connection {
			t.Fatalf("%s is sent to %q, want %q", one.Body.GetId(), stored.GetConnection(), connection)
		}
	}
}

type approval struct{ *state.Approval }

// fill proposes tickets to a backfill ticket. seen is the ticket that the function saw, and made what it makes of it,
// nil for no change.
func fill(revision int64, seen, made *pb.Backfill, tickets ...string) *state.Claim {
	c := claim(revision, "match-of-"+seen.GetId()+"-"+tickets[0], append(slices.Clone(tickets), "")...)
	c.Tickets, c.Match.Place = tickets, state.PlaceGame+seen.GetId()
	c.Match.Proposal.Teams = []*pb.Team{{Tickets: tickets}}
	c.Match.Proposal.Filling = &pb.Filling{Backfill: seen.GetId(), Generation: seen.GetGeneration(), Contents: made}
	c.Match.Proposal.TicketProperties = map[string][]byte{}
	for _, id := range tickets {
		c.Match.Proposal.TicketProperties[id] = []byte(`{"for":"` + id + `"}`)
	}
	return c
}

// seesGames waits until exactly these backfill tickets are shown.
func (m *mirror) seesGames(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	m.until(t, func() (any, bool) {
		got := slices.Sorted(maps.Keys(m.shown))
		return got, slices.Equal(got, want)
	}, want)
}

// seesGame waits until a backfill ticket is shown as wanted, at the store's generation, and returns it. An equal ticket
// of an older generation does not count.
func (m *mirror) seesGame(t *testing.T, want *pb.Backfill) *pb.Backfill {
	t.Helper()
	generation, err := m.store.Generation(t.Context(), project, want.GetId())
	if err != nil {
		t.Fatal(err)
	}
	want = proto.CloneOf(want)
	want.Generation = generation
	var got *pb.Backfill
	m.until(t, func() (any, bool) {
		got = m.shown[want.GetId()]
		return got, cmp.Equal(got, want, protocmp.Transform())
	}, want)
	return got
}

// until wakes the reader, and waits until the mirror is as it should be.
func (m *mirror) until(t *testing.T, look func() (got any, ok bool), want any) {
	t.Helper()
	select {
	case m.wake <- struct{}{}:
	default:
	}
	deadline := time.After(2 * time.Minute)
	for {
		m.mu.Lock()
		got, ok := look()
		m.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-m.changed:
		case <-deadline:
			t.Fatalf("the feed's reader sees %v, want %v", got, want)
		}
	}
}

// version sets a game's record version.
func version(b *pb.Backfill, version int64) *pb.Backfill {
	b.Version, b.Created = version, epoch0.UnixMilli()
	return b
}

func TestBackfillTicketCountsTheChangesOfItsServer(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		b := game("b", 3)
		createGame(t, s, b)
		if b.GetVersion() != 1 || b.GetCreated() != epoch0.UnixMilli() {
			t.Fatal(b)
		}
		for version := int64(2); version < 4; version++ {
			changed := &pb.Backfill{Id: "b", Connection: fmt.Sprint("server", version)}
			if _, err := s.At(at(1)).ReplaceBackfill(t.Context(), project, changed); err != nil {
				t.Fatal(err)
			}
			want := &pb.Backfill{Id: "b", Created: epoch0.UnixMilli(), Version: version, Connection: changed.GetConnection()}
			if diff := cmp.Diff(want, changed, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
			got := approve(t, s, "b", 1).Backfill
			if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(got, "generation")); diff != "" {
				t.Error(diff)
			}
		}
		if there, _, err := s.At(at(19)).DeleteBackfill(t.Context(), project, "b", ""); err != nil || !there {
			t.Error(there, err)
		}
		if there, _, err := s.At(at(19)).DeleteBackfill(t.Context(), project, "b", ""); err != nil || there {
			t.Error("deleted twice:", there, err)
		}
		_, err := s.ReplaceBackfill(t.Context(), project, b)
		kindOf(t, err, problem.NotFound)
		_, err = s.ApproveBackfill(t.Context(), project, "b", approvals())
		kindOf(t, err, problem.NotFound)
	})
}

func TestBackfillTicketsAreLimited(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{Backfills: 2}})
		createGame(t, s, game("a", 1))
		createGame(t, s, game("b", 1))
		_, err := s.CreateBackfill(t.Context(), project, game("c", 1))
		kindOf(t, err, problem.Limited)
		if _, _, err := s.At(at(19)).DeleteBackfill(t.Context(), project, "a", ""); err != nil {
			t.Fatal(err)
		}
		createGame(t, s, game("c", 1))
	})
}

func TestApprovedTicketsAreAssigned(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = 20 * time.Second
		create(t, s, "a", "b", "c")
		m := follow(t, s)
		createGame(t, s, game("g", 3))
		seen := m.seesGame(t, version(game("g", 3), 1))

		c := fill(revision, seen, game("g", 1), "a", "b")
		mustClaim(t, s, terms, c)
		if c.Refusal != "" {
			t.Fatal(c.Refusal)
		}
		m.sees(t, "c")
		m.seesGame(t, version(game("g", 1), 1)) // functions do not change the version
		if got := assigned(t, s, "a"); got != nil {
			t.Fatalf("a proposed ticket is assigned %v", got)
		}

		a := approve(t, s, "g", 20)
		if got := idsOf(a.Assigned); !slices.Equal(got, []string{"a", "b"}) {
			t.Fatalf("assigned %v", got)
		}
		if got := assigned(t, s, "a"); got.GetConnection() != "g:1" || string(got.GetProperties()) != `{"for":"a"}` {
			t.Errorf("a has %v", got)
		}
		if diff := cmp.Diff(version(game("g", 1), 1), a.Backfill, protocmp.Transform(), protocmp.IgnoreFields(a.Backfill,
			"generation")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(ticket("a", 0),
			a.Assigned[slices.IndexFunc(a.Assigned,
				func(t *state.Ticket) bool { return t.Body.GetId() == "a" })].Body, protocmp.Transform()); diff != "" {
			t.Error(diff)
		}
		isWaiting(t, s, "c")

		// The answer may be lost, so the next answers repeat the tickets for a while.
		again := approve(t, s, "g", 30)
		if len(again.Assigned) != 0 || !slices.Equal(idsOf(again.Previous), []string{"a", "b"}) || again.Position != 0 {
			t.Errorf("again: %v assigned, %v before, position %d", idsOf(again.Assigned), idsOf(again.Previous), again.Position)
		}
		if _, err := s.DeleteTicket(t.Context(), project, "a", ""); err != nil {
			t.Fatal(err)
		}
		if again = approve(t, s, "g", 31); !slices.Equal(idsOf(again.Previous), []string{"b"}) {
			t.Errorf("after one has left: %v", idsOf(again.Previous))
		}
		if again = approve(t, s, "g", 40); len(again.Previous) != 0 {
			t.Errorf("20 s later: %v", idsOf(again.Previous))
		}
	})
}

// A Redis whose clock was a day ahead noted that a ticket joined.
func TestTicketThatJoinedTomorrowIsNotRepeatedForADay(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s, tomorrow := open(state.Options{}), int(day/time.Second)
		revision, terms := setUp(t, s)
		terms.Approval = 20 * time.Second
		create(t, s, "a")
		m := follow(t, s)
		createGame(t, s, game("g", 3))
		seen := m.seesGame(t, version(game("g", 3), 1))
		mustClaim(t, s.At(at(tomorrow)), terms, fill(revision, seen, game("g", 2), "a"))
		if a := approve(t, s, "g", tomorrow); !slices.Equal(idsOf(a.Assigned), []string{"a"}) {
			t.Fatalf("assigned %v", idsOf(a.Assigned))
		}
		for _, then := range []struct{ seconds, want int }{{10, 1}, {29, 1}, {30, 0}} {
			if again := approve(t, s, "g", then.seconds); len(again.Previous) != then.want {
				t.Errorf("after %d s: %v", then.seconds, idsOf(again.Previous))
			}
		}
	})
}

// Promise 8.
func TestProposalForAnOlderVersionIsRefused(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = 20 * time.Second
		create(t, s, "a", "b", "c", "d", "e")
		createGame(t, s, game("g", 3))
		m := follow(t, s)
		seen := m.seesGame(t, version(game("g", 3), 1))

		// Two functions saw the same version. The second one is refused.
		first, second := fill(revision, seen, game("g", 2), "a"), fill(revision, seen, game("g", 2), "b")
		mustClaim(t, s, terms, first, second)
		if first.Refusal != "" || second.Refusal != "backfill" {
			t.Fatalf("refused: %q %q", first.Refusal, second.Refusal)
		}
		seen = m.seesGame(t, version(game("g", 2), 1))
		// A function that saw the result of the first is accepted.
		third := fill(revision, seen, nil, "c")
		mustClaim(t, s, terms, third)
		if third.Refusal != "" {
			t.Fatal(third.Refusal)
		}
		m.seesGames(t) // hidden: the ticket does not show that c was proposed
		stale := fill(revision, seen, nil, "d")
		mustClaim(t, s, terms, stale)
		if stale.Refusal != "backfill" {
			t.Fatalf("refused: %q", stale.Refusal)
		}

		// A new version from the server rejects all proposals.
		if _, err := s.At(at(5)).ReplaceBackfill(t.Context(), project, game("g", 1)); err != nil {
			t.Fatal(err)
		}
		now := m.seesGame(t, version(game("g", 1), 2))
		m.sees(t, "a", "b", "c", "d", "e")
		mustClaim(t, s, terms, stale)
		if stale.Refusal != "backfill" {
			t.Fatalf("refused: %q", stale.Refusal)
		}
		approval{approve(t, s, "g", 6)}.assigns(t, s, "g:1")
		gone := fill(revision, &pb.Backfill{Id: "nobody", Generation: 1}, nil, "a")
		good, taken := fill(revision, now, nil, "a", "b"), fill(revision, now, nil, "d", "nobody")
		mustClaim(t, s, terms, gone, taken, good)
		if gone.Refusal != "backfill" || taken.Refusal != "nobody" || good.Refusal != "" {
			t.Fatalf("refused: %q %q %q", gone.Refusal, taken.Refusal, good.Refusal)
		}
		m.sees(t, "c", "d", "e")
	})
}

func TestProposalNeedsTheLeaseAndAnUnchangedConfig(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		createGame(t, s, game("g", 3))
		seen := follow(t, s).seesGame(t, version(game("g", 3), 1))
		opened := claimWithBackfill(revision, "m", "h", "a")
		for _, c := range []*state.Claim{fill(revision+1, seen, nil, "a"), claimWithBackfill(revision+1, "m", "h", "a")} {
			mustClaim(t, s, terms, c)
			if c.Refusal != "config" {
				t.Errorf("refused: %q", c.Refusal)
			}
		}
		late := terms
		late.Epoch++
		for _, c := range []*state.Claim{fill(revision, seen, nil, "a"), opened} {
			if _, err := s.Claim(t.Context(), project, late, []*state.Claim{c}); !errors.Is(err, state.ErrLeaseLost) {
				t.Errorf("under another's lease: %v", err)
			}
		}
		isWaiting(t, s, "a", "b")
	})
}

// claimWithBackfill claims a match that gets a backfill ticket for its server.
func claimWithBackfill(revision int64, match, backfill string, tickets ...string) *state.Claim {
	c := claim(revision, match, tickets...)
	c.Match.Backfill = backfill
	c.Match.Proposal.Filling = &pb.Filling{Contents: game(backfill, 2)}
	return c
}

// However tickets are rejected, they wait again at their old age, and the backfill ticket is as before.
// Promise 4.
func TestRejectedTicketsWaitAgain(t *testing.T) {
	for name, reject := range map[string]func(t *testing.T, s *state.Store){
		"replaced": func(t *testing.T, s *state.Store) {
			if _, err := s.At(at(5)).ReplaceBackfill(t.Context(), project, game("g", 3)); err != nil {
				t.Fatal(err)
			}
		},
		"deleted": func(t *testing.T, s *state.Store) {
			if there, _, err := s.At(at(19)).DeleteBackfill(t.Context(), project, "g", ""); err != nil || !there {
				t.Fatal(there, err)
			}
		},
		"lapsed": func(t *testing.T, s *state.Store) {
			lapsed, err := s.At(at(20)).EndOverdueJoins(t.Context(), project, time.Minute, 10)
			if err != nil || lapsed.Games != 0 {
				t.Fatal("too early:", lapsed, err)
			}
			lapsed, err = s.At(at(21)).EndOverdueJoins(t.Context(), project, time.Minute, 10)
			if err != nil || lapsed.Games != 1 || lapsed.Position == 0 {
				t.Fatal(lapsed, err)
			}
		},
		"approved too late": func(t *testing.T, s *state.Store) {
			approval{approve(t, s, "g", 21)}.assigns(t, s, "g:1")
		},
		"silent for too long": func(t *testing.T, s *state.Store) {
			if forgotten, _, err := s.At(at(19)).DeleteSilentBackfills(t.Context(), project, 10*time.Second, 10); err != nil ||
				len(forgotten) != 0 {
				t.Fatal("too early:", forgotten, err)
			}
			forgotten, position, err := s.At(at(19)).DeleteSilentBackfills(t.Context(), project, 9500*time.Millisecond, 10)
			if err != nil || !slices.Equal(forgotten, []string{"g"}) || position == 0 {
				t.Fatal(forgotten, position, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
				s := open(state.Options{})
				revision, terms := setUp(t, s)
				terms.Approval = 20 * time.Second
				create(t, s, "a", "b", "c", "d")
				createGame(t, s, game("g", 3))
				m := follow(t, s)
				mustClaim(t, s, terms, fill(revision, m.seesGame(t, version(game("g", 3), 1)), game("g", 1), "a", "b"))
				mustClaim(t, s, terms, fill(revision, m.seesGame(t, version(game("g", 1), 1)), game("g", 0), "c"))
				if _, err := s.DeleteTicket(t.Context(), project, "b", ""); err != nil { // its player has left
					t.Fatal(err)
				}
				m.sees(t, "d")
				m.seesGame(t, version(game("g", 0), 1))
				reject(t, s)
				m.sees(t, "a", "c", "d")
				if got := m.body("a"); got == "" {
					t.Error("a waits without its body")
				}
				switch name {
				case "replaced":
					m.seesGame(t, version(game("g", 3), 2))
				case "approved too late":
					m.seesGame(t, version(game("g", 3), 1))
				default:
					m.seesGames(t)
				}
				isWaiting(t, s, "a", "c", "d")
				order, err := s.OldestWaiting(t.Context(), project, 0)
				if err != nil || !slices.Equal(order, []string{"a", "c", "d"}) {
					t.Errorf("by age: %v, %v", order, err)
				}
			})
		})
	}
}

// A server that let its proposals lapse may have died.
func TestBackfillTicketWithLapsedProposalsIsHiddenUntilItsServerCalls(t *testing.T) {
	for name, call := range map[string]func(t *testing.T, s *state.Store) int64{
		"approves": func(t *testing.T, s *state.Store) int64 {
			if a := approve(t, s, "g", 30); len(a.Assigned) != 0 || a.Position == 0 {
				t.Errorf("%v assigned, position %d", idsOf(a.Assigned), a.Position)
			}
			return 1
		},
		"replaces": func(t *testing.T, s *state.Store) int64 {
			if _, err := s.At(at(30)).ReplaceBackfill(t.Context(), project, game("g", 3)); err != nil {
				t.Fatal(err)
			}
			return 2
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
				s := open(state.Options{})
				revision, terms := setUp(t, s)
				terms.Approval = 20 * time.Second
				create(t, s, "a")
				createGame(t, s, game("g", 3))
				m := follow(t, s)
				seen := m.seesGame(t, version(game("g", 3), 1))
				mustClaim(t, s, terms, fill(revision, seen, game("g", 2), "a"))
				if _, err := s.At(at(21)).EndOverdueJoins(t.Context(), project, time.Minute, 10); err != nil {
					t.Fatal(err)
				}
				m.sees(t, "a")
				m.seesGames(t)
				follow(t, s).seesGames(t) // a reader that begins now sees the same
				c := fill(revision, seen, nil, "a")
				mustClaim(t, s, terms, c)
				if c.Refusal != "backfill" {
					t.Fatalf("refused: %q", c.Refusal)
				}
				now := m.seesGame(t, version(game("g", 3), call(t, s)))
				follow(t, s).seesGame(t, now)
				c = fill(revision, now, nil, "a")
				terms.Approval = 50 * time.Second
				mustClaim(t, s, terms, c)
				if c.Refusal != "" {
					t.Fatalf("refused: %q", c.Refusal)
				}
				approval{approve(t, s, "g", 31)}.assigns(t, s, "g:1", "a")
			})
		})
	}
}

// Tickets cannot be sent to a server without an address.
func TestBackfillTicketWithoutConnectionIsHidden(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		m := follow(t, s)
		b := game("g", 1)
		b.Connection = ""
		createGame(t, s, b)
		createGame(t, s, game("h", 1))
		m.seesGames(t, "h")
		follow(t, s).seesGames(t, "h")
		if _, err := s.At(at(1)).ReplaceBackfill(t.Context(), project, game("g", 1)); err != nil {
			t.Fatal(err)
		}
		m.seesGames(t, "g", "h")
		b = game("h", 1)
		b.Connection = ""
		if _, err := s.At(at(1)).ReplaceBackfill(t.Context(), project, b); err != nil {
			t.Fatal(err)
		}
		m.seesGames(t, "g")
	})
}

// When all proposed tickets have left, the change that the function made for them is undone.
func TestCancelledProposalsLeaveTheBackfillTicketAsItWas(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = 20 * time.Second
		create(t, s, "a", "b")
		createGame(t, s, game("g", 3))
		m := follow(t, s)
		mustClaim(t, s, terms, fill(revision, m.seesGame(t, version(game("g", 3), 1)), game("g", 1), "a", "b"))
		for _, id := range []string{"a", "b"} {
			if _, err := s.DeleteTicket(t.Context(), project, id, ""); err != nil {
				t.Fatal(err)
			}
		}
		approval{approve(t, s, "g", 3)}.assigns(t, s, "g:1")
		m.seesGame(t, version(game("g", 3), 1))
		m.sees(t)
	})
}

func TestApprovalsAreLimited(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		createGame(t, s, game("g", 1))
		createGame(t, s, game("h", 1))
		a := approvals()
		a.Rate = state.Rate{PerSecond: 2, Burst: 3}
		for range 3 {
			if _, err := s.ApproveBackfill(t.Context(), project, "g", a); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.ApproveBackfill(t.Context(), project, "g", a)
		kindOf(t, err, problem.Limited)
		if _, err := s.ApproveBackfill(t.Context(), project, "h", a); err != nil {
			t.Error("another server:", err)
		}
		if _, err := s.At(at(1)).ApproveBackfill(t.Context(), project, "g", a); err != nil {
			t.Error("a second later:", err)
		}
	})
}

// After any race each ticket waits or is assigned, and each approval reports exactly the tickets that it assigned.
// Promises 2, 8.
func TestRacingApprovalsReportTheTicketsThatTheyAssigned(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		terms.Approval = 20 * time.Second
		m := follow(t, s)
		for round := range 12 {
			id := fmt.Sprint("g", round)
			var tickets []string
			for i := range 6 {
				tickets = append(tickets, fmt.Sprintf("%s-%d", id, i))
			}
			create(t, s, tickets...)
			createGame(t, s, game(id, 6))
			seen := m.seesGame(t, version(game(id, 6), 1))
			mustClaim(t, s, terms, fill(revision, seen, game(id, 2), tickets[:4]...))

			var all sync.WaitGroup
			reports := make([][]*state.Ticket, 2)
			for i := range reports {
				all.Go(func() {
					a, err := s.At(at(19)).ApproveBackfill(t.Context(), project, id, approvals())
					switch {
					case err == nil:
						reports[i] = a.Assigned
					case problem.KindOf(err) != problem.NotFound:
						t.Error(err)
					}
				})
			}
			var cancelled error
			all.Go(func() { _, cancelled = s.DeleteTicket(t.Context(), project, tickets[0], "") })
			all.Go(func() {
				var err error
				switch round % 3 {
				case 0:
					_, err = s.At(at(21)).EndOverdueJoins(t.Context(), project, time.Minute, 10)
				case 1:
					_, err = s.At(at(19)).ReplaceBackfill(t.Context(), project, game(id, 6))
				case 2:
					_, _, err = s.At(at(19)).DeleteBackfill(t.Context(), project, id, "")
				}
				if err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				c := fill(revision, &pb.Backfill{Id: id, Generation: seen.GetGeneration() + 1}, game(id, 0), tickets[4:]...)
				if _, err := s.Claim(t.Context(), project, terms, []*state.Claim{c}); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			if cancelled != nil {
				t.Error(cancelled)
			}
			// End the remaining proposals.
			if _, err := s.At(at(21)).EndOverdueJoins(t.Context(), project, time.Minute, 10); err != nil {
				t.Fatal(err)
			}
			listed := map[string]int{}
			for _, tickets := range reports {
				for _, one := range tickets {
					listed[one.Body.GetId()]++
				}
			}
			var waits []string
			for _, ticket := range tickets {
				got, err := s.Ticket(t.Context(), project, ticket)
				switch {
				case ticket == tickets[0]:
					kindOf(t, err, problem.NotFound) // it may have been listed, and left then
				case err != nil:
					t.Error(err)
				case got.Assignment == nil:
					waits = append(waits, ticket)
					if listed[ticket] != 0 {
						t.Errorf("%s is not assigned, but an approval reported it", ticket)
					}
				case listed[ticket] != 1:
					t.Errorf("%s is assigned, and was reported %d times", ticket, listed[ticket])
				}
			}
			m.sees(t, waits...)
			for _, ticket := range tickets[1:] {
				if _, err := s.DeleteTicket(t.Context(), project, ticket, ""); err != nil {
					t.Error(err)
				}
			}
			if _, _, err := s.At(at(19)).DeleteBackfill(t.Context(), project, id, ""); err != nil {
				t.Fatal(err)
			}
			m.sees(t)
			m.seesGames(t)
		}
		if left, err := s.Leftovers(t.Context(), project); err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

func TestFillIsAllOrNothing(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		create(t, s, "a", "b", "c")
		two := []*pb.Assignment{{Connection: "x:1"}, {Connection: "x:1", Properties: []byte("{}")}}
		got, refused, _, err := s.AssignWaiting(t.Context(), project, nil, []string{"a", "nobody"}, two, 10*time.Minute)
		if err != nil || refused != "nobody" || len(got) != 0 {
			t.Fatal(got, refused, err)
		}
		isWaiting(t, s, "a", "b", "c")
		got, refused, position, err := s.AssignWaiting(t.Context(), project, nil, []string{"a", "b"}, two, 10*time.Minute)
		if err != nil || refused != "" || position == 0 || !slices.Equal(idsOf(got), []string{"a", "b"}) {
			t.Fatal(got, refused, position, err)
		}
		for i, one := range got {
			if diff := cmp.Diff(two[i], one.Assignment, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(two[i], assigned(t, s, one.Body.GetId()), protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		}
		isWaiting(t, s, "c")
	})
}

// proposeDuringAllocation claims a match of a and b that needs a server and has a backfill ticket g, and proposes c and
// d to g.
func proposeDuringAllocation(t *testing.T, s *state.Store) (*pb.Match, *mirror, state.ClaimOptions) {
	t.Helper()
	revision, terms := setUp(t, s)
	terms.Approval = 20 * time.Second
	create(t, s, "a", "b", "c", "d", "e")
	m := follow(t, s)
	c := claimWithBackfill(revision, "m", "g", "a", "b")
	mustClaim(t, s, terms, c)
	if c.Refusal != "" {
		t.Fatal(c.Refusal)
	}
	m.sees(t, "c", "d", "e")
	allocating := version(game("g", 2), 1)
	allocating.Connection = ""
	seen := m.seesGame(t, allocating) // functions see it without a connection
	follow(t, s).seesGame(t, seen)
	fills := fill(revision, seen, game("g", 0), "c", "d")
	mustClaim(t, s, terms, fills)
	if fills.Refusal != "" {
		t.Fatal(fills.Refusal)
	}
	m.sees(t, "e")
	return c.Match, m, terms
}

func begin(t *testing.T, s *state.Store, m *pb.Match, want state.MatchStatus) {
	t.Helper()
	if got, _, err := take(t.Context(), s, m, at(1), at(45)); err != nil || got != want {
		t.Fatalf("begin: %q, %v, want %q", got, err, want)
	}
}

// assign ends a match with a connection, "" for an error, and returns the tickets that got a result.
func assign(t *testing.T, s *state.Store, m *pb.Match, connection string) []string {
	t.Helper()
	end := state.Outcome{Holder: "one", Readable: 590 * time.Second, Connection: connection}
	if connection == "" {
		end.Error, end.Reason = "AllocationError", "allocation"
	}
	results := map[string]*pb.Assignment{}
	for _, id := range state.TicketsOf(m.GetProposal()) {
		results[id] = &pb.Assignment{Connection: connection, Error: end.Error}
	}
	status, assigned, err := s.At(at(10)).Assign(t.Context(), project, m, end, results)
	if err != nil || status != state.MatchActive {
		t.Fatalf("assign: %q, %v", status, err)
	}
	slices.Sort(assigned)
	return assigned
}

// A match's backfill ticket has no connection until the match has one. Then the proposed tickets get it at the same
// moment. The server learns of them at its first approval.
func TestTicketsProposedDuringTheAllocationGetItsConnection(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		match, m, terms := proposeDuringAllocation(t, s)
		begin(t, s, match, state.MatchActive)
		// The server may call before the allocator has written its address.
		if a := approve(t, s, "g", 5); len(a.Assigned)+len(a.Previous) != 0 || a.Backfill.GetConnection() != "" ||
			a.Backfill.GetAttributeValues()[0] != 2 {
			t.Errorf("%v, %v, %v", idsOf(a.Assigned), idsOf(a.Previous), a.Backfill)
		}
		// The time to approve has not begun.
		lapsed, err := s.At(at(40)).EndOverdueJoins(t.Context(), project, time.Minute, 10)
		if err != nil || lapsed.Games > 0 {
			t.Fatal(lapsed, err)
		}
		if got := assign(t, s, match, "10.0.0.1:7"); !slices.Equal(got, []string{"a", "b", "c", "d"}) {
			t.Fatalf("assigned %v", got)
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			if got := assigned(t, s, id).GetConnection(); got != "10.0.0.1:7" {
				t.Errorf("%s is sent to %q", id, got)
			}
		}
		if got := assigned(t, s, "c"); string(got.GetProperties()) != `{"for":"c"}` {
			t.Errorf("c has %v", got)
		}
		full := version(game("g", 0), 1)
		full.Connection = "10.0.0.1:7"
		seen := m.seesGame(t, full)
		first := approve(t, s, "g", 100)
		if len(first.Assigned) != 0 || !slices.Equal(idsOf(first.Previous), []string{"c", "d"}) {
			t.Errorf("the approval reports %v, %v", idsOf(first.Assigned), idsOf(first.Previous))
		}
		if again := approve(t, s, "g", 119); !slices.Equal(idsOf(again.Previous), []string{"c", "d"}) {
			t.Errorf("the next approval reports %v", idsOf(again.Previous))
		}
		if again := approve(t, s, "g", 120); len(again.Previous) != 0 {
			t.Errorf("the next approval reports %v", idsOf(again.Previous))
		}
		// From here on it is like any other backfill ticket. It keeps the allocated connection when its server names none.
		terms.Approval = 200 * time.Second
		fills := fill(match.GetRevision(), seen, nil, "e")
		mustClaim(t, s, terms, fills)
		approval{approve(t, s, "g", 121)}.assigns(t, s, "10.0.0.1:7", "e")
		b := game("g", 1)
		b.Connection = ""
		if _, err := s.At(at(130)).ReplaceBackfill(t.Context(), project, b); err != nil || b.GetConnection() != "10.0.0.1:7" {
			t.Errorf("replaced: connection %q, %v", b.GetConnection(), err)
		}
		m.seesGame(t, &pb.Backfill{
			Id: "g", Created: epoch0.UnixMilli(), Version: 2, Connection: "10.0.0.1:7",
			AttributeNames: b.GetAttributeNames(), AttributeValues: b.GetAttributeValues(), Properties: b.GetProperties(),
		})
		lines, _ := readHistory(t, s, nil)
		wantHistory(t, lines, "created a", "created b", "created c", "created d", "created e",
			"claimed m g a,b (director 1)", "claimed match-of-g-c g c,d (director 1)", "allocating m a,b", "assigned m "+
				"a,b", "assigned match-of-g-c g c,d",
			"claimed match-of-g-e g e (director 1)", "assigned match-of-g-e g e")
	})
}

// When a match ends without a ticket on its server, its backfill ticket is deleted and the tickets proposed to it wait
// again.
func TestBackfillTicketEndsWithItsMatch(t *testing.T) {
	for name, end := range map[string]struct {
		end     func(t *testing.T, s *state.Store, m *pb.Match)
		wait    []string
		history []string
	}{
		"a ticket left before the allocation began": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, second(s.DeleteTicket(t.Context(), project, "a", "")))
			begin(t, s, m, state.MatchDropped)
		}, []string{"b", "c", "d", "e"}, []string{"cancelled claimed a", "released left m b",
			"released unallocated match-of-g-c g c,d"}},
		"the allocation failed": {func(t *testing.T, s *state.Store, m *pb.Match) {
			begin(t, s, m, state.MatchActive)
			if got := assign(t, s, m, ""); !slices.Equal(got, []string{"a", "b"}) {
				t.Errorf("%v have the error", got)
			}
		}, []string{"c", "d", "e"}, []string{"allocating m a,b", "failed allocation AllocationError m a,b", "released " +
			"unallocated match-of-g-c g c,d"}},
		"all have left when there is a server": {func(t *testing.T, s *state.Store, m *pb.Match) {
			begin(t, s, m, state.MatchActive)
			for _, id := range []string{"a", "b", "c", "d"} {
				must(t, second(s.DeleteTicket(t.Context(), project, id, "")))
			}
			if got := assign(t, s, m, "10.0.0.1:7"); len(got) > 0 {
				t.Errorf("%v are assigned", got)
			}
		}, []string{"e"}, []string{
			"allocating m a,b", "cancelled claimed a", "cancelled claimed b", "cancelled claimed c", "cancelled claimed " +
				"d", "assigned m", "released unallocated match-of-g-c g",
		}},
		"nobody took the match up": {func(t *testing.T, s *state.Store, m *pb.Match) {
			released, position, err := s.At(at(10)).ReleaseOverdueMatches(t.Context(), project, 10)
			if err != nil || !slices.Equal(released, []string{"m"}) || position == 0 {
				t.Fatal(released, position, err)
			}
			begin(t, s, m, state.MatchForgotten)
		}, []string{"a", "b", "c", "d", "e"}, []string{"released deadline m a,b", "released unallocated match-of-g-c g c,d"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
				s := open(state.Options{History: 1000})
				match, m, _ := proposeDuringAllocation(t, s)
				_, before := readHistory(t, s, nil)
				end.end(t, s, match)
				m.sees(t, end.wait...)
				m.seesGames(t)
				order, err := s.OldestWaiting(t.Context(), project, 0)
				if err != nil || !slices.Equal(order, end.wait) {
					t.Errorf("by age: %v, %v", order, err)
				}
				_, err = s.At(at(11)).ApproveBackfill(t.Context(), project, "g", approvals())
				kindOf(t, err, problem.NotFound)
				lines, _ := readHistory(t, s, before)
				wantHistory(t, lines, end.history...)
				for _, id := range []string{"a", "b", "c", "d", "e"} {
					_, _ = s.DeleteTicket(t.Context(), project, id, "")
				}
				// The match itself is forgotten later.
				if left, err := s.Leftovers(t.Context(), project); err != nil ||
					len(slices.DeleteFunc(left, func(key string) bool {
						return strings.HasSuffix(key, ":m:m") ||
							strings.HasSuffix(key, ":deallocations")
					})) != 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		})
	}
}

// A server is given back when all tickets of its match left. Those that would have joined wait again.
func TestServerIsNotKeptForThoseWhoWouldJoin(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		match, m, _ := proposeDuringAllocation(t, s)
		begin(t, s, match, state.MatchActive)
		for _, id := range []string{"a", "b", "d"} {
			must(t, second(s.DeleteTicket(t.Context(), project, id, "")))
		}
		if got := assign(t, s, match, "10.0.0.1:7"); len(got) > 0 {
			t.Errorf("%v are assigned", got)
		}
		m.seesGames(t)
		m.sees(t, "c", "e")
	})
}

func TestOnlyTheServerOfItsMatchChangesABackfillTicket(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		proposeDuringAllocation(t, s)
		own := game("own", 1)
		own.Match = "m"
		createGame(t, s, own)
		createGame(t, s, game("studio", 1))
		for id, mine := range map[string]bool{"g": true, "own": true, "studio": false} {
			for _, match := range []string{"m", "other", ""} {
				allowed := match == "" || mine && match == "m"
				a := approvals()
				a.Match = match
				if _, err := s.ApproveBackfill(t.Context(), project, id, a); (err == nil) != allowed || !allowed &&
					problem.KindOf(err) != problem.NotFound {
					t.Errorf("%s, approved by a server of %q: %v", id, match, err)
				}
				b := game(id, 1)
				b.Match = match
				if _, err := s.At(at(1)).ReplaceBackfill(t.Context(), project, b); (err == nil) != allowed || !allowed &&
					problem.KindOf(err) != problem.NotFound {
					t.Errorf("%s, replaced by a server of %q: %v", id, match, err)
				}
			}
			for _, match := range []string{"other", "m", ""} {
				allowed := match == "m" && mine || match == "" && !mine
				if there, _, err := s.At(at(1)).DeleteBackfill(t.Context(), project, id, match); err != nil || there != allowed {
					t.Errorf("%s, deleted by a server of %q: %v, %v", id, match, there, err)
				}
			}
		}
	})
}

func TestHistoryHasRejections(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		revision, terms := setUp(t, s)
		terms.Approval = 20 * time.Second
		create(t, s, "a", "b")
		_, from := readHistory(t, s, nil)
		createGame(t, s, game("g", 3))
		m := follow(t, s)
		propose := func(v int64) {
			t.Helper()
			m.sees(t, "a", "b")
			c := fill(revision, m.seesGame(t, version(game("g", 3), v)), nil, "a", "b")
			mustClaim(t, s, terms, c)
			if c.Refusal != "" {
				t.Fatal(c.Refusal)
			}
		}
		propose(1)
		must(t, second(s.At(at(1)).ReplaceBackfill(t.Context(), project, game("g", 3))))
		propose(2)
		must(t, second(s.At(at(21)).EndOverdueJoins(t.Context(), project, time.Minute, 10)))
		approve(t, s, "g", 22)
		propose(2)
		approve(t, s, "g", 23) // too late: the deadline was 20
		propose(2)
		must(t, third(s.At(at(24)).DeleteSilentBackfills(t.Context(), project, 500*time.Millisecond, 10)))
		createGame(t, s, game("g", 3))
		propose(1)
		must(t, third(s.At(at(25)).DeleteBackfill(t.Context(), project, "g", "")))
		lines, _ := readHistory(t, s, from)
		const proposed, rejected = "claimed match-of-g-a g a,b (director 1)", "released %s match-of-g-a g a,b"
		var want []string
		for _, reason := range []string{"replaced", "lapsed", "lapsed", "silent", "deleted"} {
			want = append(want, proposed, fmt.Sprintf(rejected, reason))
		}
		wantHistory(t, lines, want...)
	})
}

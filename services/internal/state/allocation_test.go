package state_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// take begins a match as its only holder.
func take(ctx context.Context, s *state.Store, m *pb.Match, now, claim time.Time) (state.MatchStatus, uint64, error) {
	b, err := s.At(now).BeginAllocation(ctx, project, m, tenSecondLease("one", claim.Sub(now)))
	return b.Status, b.Position, err
}

// tenSecondLease is a lease that expires after ten seconds.
func tenSecondLease(holder string, claim time.Duration) state.MatchLease {
	return state.MatchLease{Holder: holder, Hold: 10 * time.Second, Search: claim - time.Second, Claim: claim}
}

// retries come after one second at first, and after four at most.
var retries = state.Backoff{First: time.Second, Max: 4 * time.Second}

// wantDeallocations claims the matches of the project whose servers are to be deallocated now.
func wantDeallocations(t *testing.T, s *state.Store, now time.Time, want ...string) []state.Deallocation {
	t.Helper()
	all, err := s.At(now).ClaimDeallocations(t.Context(), []string{"nobody's", project}, 10, retries)
	must(t, err)
	claimed := slices.SortedFunc(slices.Values(all[project]), func(a, b state.Deallocation) int {
		return strings.Compare(a.Match.GetId(), b.Match.GetId())
	})
	var got []string
	for _, d := range claimed {
		got = append(got, d.Match.GetId())
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s after the start, deallocations are %v, want %v", now.Sub(epoch0), got, want)
	}
	return claimed
}

// finish ends deallocations.
func finish(t *testing.T, s *state.Store, now time.Time, all ...state.Deallocation) {
	t.Helper()
	for _, d := range all {
		_, err := s.At(now).FinishDeallocation(t.Context(), project, d, false)
		must(t, err)
	}
}

// Promise 7.
func TestMatchHasOneLeaseHolder(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		c := claim(revision, "m", "a", "b")
		mustClaim(t, s, terms, c)
		owners := [][]string{{"owner-of-a"}, {"owner-of-b"}}
		begin := func(holder string, after time.Duration, want state.Allocation) {
			t.Helper()
			got, err := s.At(epoch0.Add(after)).BeginAllocation(t.Context(), project, c.Match,
				tenSecondLease(holder, time.Minute))
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, after %s: %s", holder, after, diff)
			}
		}
		renew := func(holder string, after time.Duration, want bool) {
			t.Helper()
			got, err := s.At(epoch0.Add(after)).SetMatchLease(t.Context(), project, "m", holder, 10*time.Second)
			if err != nil || got != want {
				t.Errorf("%s renews: %v, %v, want %v", holder, got, err, want)
			}
		}
		// The next holder has what earlier holders left of the time, which stands while there is no lease.
		active := func(left time.Duration) state.Allocation {
			return state.Allocation{Status: state.MatchActive, Search: left, Players: owners}
		}
		renew("one", 0, false) // no holder has begun
		begin("one", 0, state.Allocation{Status: state.MatchActive, First: true, Search: 59 * time.Second, Players: owners})
		begin("two", 4*time.Second, state.Allocation{Status: state.MatchLeased, Wait: 6 * time.Second})
		renew("two", 5*time.Second, false)
		renew("one", 10*time.Second, true)
		begin("two", 19*time.Second, state.Allocation{Status: state.MatchLeased, Wait: time.Second})
		begin("two", 20*time.Second, active(39*time.Second))
		renew("one", 20*time.Second, false)
		begin("one", 21*time.Second, state.Allocation{Status: state.MatchLeased, Wait: 9 * time.Second})
		begin("two", 22*time.Second, active(37*time.Second))
		must(t, second(s.SetMatchLease(t.Context(), project, "m", "one", 0))) // not the holder any more
		begin("one", 23*time.Second, state.Allocation{Status: state.MatchLeased, Wait: 9 * time.Second})
		must(t, second(s.At(epoch0.Add(23*time.Second)).SetMatchLease(t.Context(), project, "m", "two", 0)))
		begin("one", 24*time.Second, active(36*time.Second))
		begin("two", 50*time.Second, active(26*time.Second)) // one's lease expired at 34
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{76 * time.Second, 0}, {77 * time.Second, 1}} {
			if released, _, err := s.At(epoch0.Add(c.after)).ReleaseOverdueMatches(t.Context(), project, 10); err != nil ||
				len(released) != c.want {
				t.Error(c.after, released, err)
			}
		}
		renew("two", 78*time.Second, false)
		begin("one", 79*time.Second, state.Allocation{Status: state.MatchReleased})
	})
}

// The holder of a lease learns the players, also after a ticket left.
func TestLeaseNamesThePlayers(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		for n, withBackfill := range []bool{false, true} {
			for i, tickets := range []*pb.Ticket{
				group(fmt.Sprint("party", n), 0, "bob", "cy é \"x\""), group(fmt.Sprint("one", n), 1),
				group(fmt.Sprint("leaves", n), 2, "eve"),
			} {
				must(t, s.At(at(i)).Creator(nil).Create(t.Context(), project, tickets))
			}
			c := claim(revision, fmt.Sprint("m", n), fmt.Sprint("leaves", n), fmt.Sprint("party", n), fmt.Sprint("one", n))
			if withBackfill {
				c.Match.Backfill = "game"
				c.Match.Proposal.Filling = &pb.Filling{Contents: game("game", 1)}
			}
			mustClaim(t, s, terms, c)
			for lease, want := range [][][]string{
				{{"eve"}, {"bob", "cy é \"x\""}, {"owner-of-one" + strconv.Itoa(n)}},
				{{}, {"bob", "cy é \"x\""}, {"owner-of-one" + strconv.Itoa(n)}},
			} {
				begun, err := s.BeginAllocation(t.Context(), project, c.Match, tenSecondLease("one", time.Minute))
				must(t, err)
				if diff := cmp.Diff(want, begun.Players); diff != "" || begun.Status != state.MatchActive {
					t.Errorf("backfill %v: %s, %s", withBackfill, begun.Status, diff)
				}
				must(t, second(s.SetMatchLease(t.Context(), project, c.Match.GetId(), "one", 0)))
				if lease == 0 {
					must(t, second(s.DeleteTicket(t.Context(), project, fmt.Sprint("leaves", n), "")))
				}
			}
		}
	})
}

// A match ends and no ticket uses its server. The server is deallocated, and tried again until it succeeds.
// Promise 7.
func TestUnusedServerIsDeallocated(t *testing.T) {
	results := map[string]*pb.Assignment{"a": {}, "b": {}}
	leave := func(t *testing.T, s *state.Store) {
		t.Helper()
		must(t, second(s.DeleteTicket(t.Context(), project, "a", "")))
		must(t, second(s.DeleteTicket(t.Context(), project, "b", "")))
	}
	for name, test := range map[string]struct {
		end         func(t *testing.T, s *state.Store, m *pb.Match)
		deallocated bool
		waiting     []string
	}{
		"all are assigned": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Holder: "one", Connection: "x:1"},
				results)))
		}, false, nil},
		"one has left": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, second(s.DeleteTicket(t.Context(), project, "a", "")))
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Holder: "one", Connection: "x:1"},
				results)))
		}, false, nil},
		"all have left": {func(t *testing.T, s *state.Store, m *pb.Match) {
			leave(t, s)
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Holder: "one", Connection: "x:1"},
				results)))
		}, true, nil},
		"an error, without a server": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Holder: "one", Error: "E"}, results)))
		}, false, nil},
		"an error, with a possible server": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Holder: "one", Error: "E",
				MayHaveServer: true}, results)))
			if got := assigned(t, s, "a"); got == nil {
				t.Error("the ticket has no error")
			}
		}, true, nil},
		"the tickets wait again, without a server": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, second(s.ReleaseMatch(t.Context(), project, m, "one", false, "allocation")))
		}, false, []string{"a", "b"}},
		"the tickets wait again, with a possible server": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, second(s.ReleaseMatch(t.Context(), project, m, "one", true, "allocation")))
		}, true, []string{"a", "b"}},
		"a server after an error": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Holder: "one", Error: "E"}, results)))
			status, assigned, err := s.Assign(t.Context(), project, m, state.Outcome{Holder: "one",
				Connection: "x:1"}, results)
			if err != nil || status != state.MatchReleased || len(assigned) > 0 {
				t.Error(status, assigned, err)
			}
		}, true, nil},
		"a server after the match was forgotten": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Holder: "one", Error: "E"}, results)))
			must(t, second(s.Expire(t.Context(), project, time.Hour, time.Minute, 10)))
			status, assigned, err := s.Assign(t.Context(), project, m, state.Outcome{Holder: "one",
				Connection: "x:1"}, results)
			if err != nil || status != state.MatchForgotten || len(assigned) > 0 {
				t.Error(status, assigned, err)
			}
		}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
				s := open(state.Options{History: 1000})
				revision, terms := setUp(t, s)
				create(t, s, "a", "b")
				c := claim(revision, "m", "a", "b")
				mustClaim(t, s, terms, c)
				must(t, third(take(t.Context(), s, c.Match, epoch0, at(10))))
				test.end(t, s, c.Match)
				isWaiting(t, s, test.waiting...)
				if !test.deallocated {
					wantDeallocations(t, s, epoch0.Add(time.Hour))
					return
				}
				// Expiry does not forget the match.
				must(t, second(s.At(epoch0.Add(100*time.Hour)).Expire(t.Context(), project, 200*time.Hour, time.Minute, 10)))
				wantDeallocations(t, s, epoch0.Add(-time.Millisecond))
				wantDeallocations(t, s, epoch0, "m")
				// A caller may die. Later calls return the match again, after longer and longer delays.
				wantDeallocations(t, s, epoch0.Add(999*time.Millisecond))
				wantDeallocations(t, s, epoch0.Add(time.Second), "m")
				wantDeallocations(t, s, epoch0.Add(2999*time.Millisecond))
				wantDeallocations(t, s, epoch0.Add(3*time.Second), "m")
				wantDeallocations(t, s, epoch0.Add(6999*time.Millisecond))
				wantDeallocations(t, s, epoch0.Add(7*time.Second), "m")
				last := wantDeallocations(t, s, epoch0.Add(11*time.Second), "m")
				m, err := s.Match(t.Context(), project, "m")
				must(t, err)
				if !proto.Equal(m, c.Match) {
					t.Errorf("the match is %v, was %v", m, c.Match)
				}
				finish(t, s, at(11), last[0], last[0])
				if strings.HasSuffix(name, "possible server") { // a call may still have been under way
					finish(t, s, at(71), wantDeallocations(t, s, at(71), "m")...)
				}
				wantDeallocations(t, s, epoch0.Add(100*time.Hour))
				_, err = s.Match(t.Context(), project, "m")
				kindOf(t, err, problem.NotFound)
				lines, _ := readHistory(t, s, nil)
				if n := len(slices.DeleteFunc(lines, func(line string) bool { return line != "returned m" })); n != 1 {
					t.Errorf("the history has %d returned events", n)
				}
			})
		})
	}
}

// The holder of an overdue match may still be asking for its server. The server is deallocated twice, since a call of
// the holder may be under way; also when the first time takes so long that another caller has its turn meanwhile.
// Promise 7.
func TestServerOfALostHolderIsDeallocatedTwice(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c", "d", "e", "f")
		lost, yielded, never := claim(revision, "lost", "a", "b"), claim(revision, "yielded", "c", "d"), claim(revision,
			"never", "e", "f")
		mustClaim(t, s, terms, lost, yielded, never)
		for _, c := range []*state.Claim{lost, yielded} {
			must(t, third(take(t.Context(), s, c.Match, epoch0, epoch0.Add(2*time.Second))))
		}
		must(t, second(s.SetMatchLease(t.Context(), project, "yielded", "one", 0)))
		if released, _, err := s.At(at(10)).ReleaseOverdueMatches(t.Context(), project, 10); err != nil ||
			len(released) != 3 {
			t.Fatal(released, err)
		}
		isWaiting(t, s, "a", "b", "c", "d", "e", "f")
		// The third match has no server, since its allocation never began.
		slow := wantDeallocations(t, s, at(10), "lost", "yielded")
		finish(t, s, at(11), wantDeallocations(t, s, at(11), "lost", "yielded")...)
		ended := at(11)
		finish(t, s, ended, slow...)
		wantDeallocations(t, s, ended.Add(59*time.Second))
		finish(t, s, ended.Add(time.Minute), wantDeallocations(t, s, ended.Add(time.Minute), "lost")...)
		wantDeallocations(t, s, ended.Add(100*time.Hour))
	})
}

// A claim may arrive a second time, or late, when its match has ended. Then its tickets wait for other matches, and the
// server of the match is still deallocated.
// Promise 7.
func TestEndedMatchIsNotClaimed(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		allocated, lost := claim(revision, "allocated", "a"), claim(revision, "lost", "b")
		mustClaim(t, s, terms, allocated)
		must(t, third(take(t.Context(), s, allocated.Match, epoch0, at(10))))
		must(t, second(s.ReleaseMatch(t.Context(), project, allocated.Match, "one", true, "allocation")))
		// Redis lost the claim of the other match.
		must(t, third(s.Assign(t.Context(), project, lost.Match, state.Outcome{Holder: "one", Connection: "x:1"},
			map[string]*pb.Assignment{"b": {}})))
		for _, c := range []*state.Claim{allocated, lost} {
			must(t, second(s.Claim(t.Context(), project, terms, []*state.Claim{c})))
			if want := c.Tickets[0]; c.Refusal != want {
				t.Errorf("the claim of %s is refused with %q, want %q", c.Match.GetId(), c.Refusal, want)
			}
		}
		isWaiting(t, s, "a", "b")
		wantDeallocations(t, s, at(10), "allocated", "lost")
	})
}

// Keys may be revoked for good: a deallocation that never succeeds ends.
func TestDeallocationIsGivenUp(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{History: 1000})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		m := claim(revision, "m", "a", "b")
		mustClaim(t, s, terms, m)
		must(t, third(take(t.Context(), s, m.Match, epoch0, at(10))))
		must(t, second(s.ReleaseMatch(t.Context(), project, m.Match, "one", true, "allocation")))
		backoff := state.Backoff{First: time.Second, Max: time.Minute, Patience: time.Hour}
		try := func(after time.Duration, want, last bool) []state.Deallocation {
			t.Helper()
			due, err := s.At(epoch0.Add(after)).ClaimDeallocations(t.Context(), []string{project}, 10, backoff)
			got := due[project]
			if err != nil || (len(got) == 1) != want || want && got[0].Last != last {
				t.Fatalf("after %v: %v, %v, want one: %v, last: %v", after, got, err, want, last)
			}
			return got
		}
		first := 2 * time.Hour // it was not tried before
		try(first, true, false)
		try(first+60*time.Minute, true, false) // Redis's clock may have jumped
		late := try(first+61*time.Minute, true, true)[0]
		_, _, err := s.At(epoch0.Add(first+61*time.Minute)).Assign(t.Context(), project, m.Match,
			state.Outcome{Holder: "one", Connection: "late:1", Readable: time.Minute},
			map[string]*pb.Assignment{"a": {}, "b": {}})
		must(t, err)
		if ended, err := s.FinishDeallocation(t.Context(), project, late, true); ended || err != nil {
			t.Errorf("given up, though the match got another server: %t, %v", ended, err)
		}
		first += 61 * time.Minute
		try(first, true, false) // that is tried as long
		given := try(first+61*time.Minute, true, true)[0]
		if ended, err := s.FinishDeallocation(t.Context(), project, given, true); !ended || err != nil {
			t.Errorf("given up: %t, %v", ended, err)
		}
		try(100*time.Hour, false, false) // and no second one, though the answer of the call may be late
		lines, _ := readHistory(t, s, nil)
		if last := lines[len(lines)-1]; last != "unreturned expired m" {
			t.Errorf("the last event is %q", last)
		}
		must(t, second(s.At(epoch0.Add(100*time.Hour)).Expire(t.Context(), project, time.Hour, time.Minute, 10)))
		if left, err := s.Leftovers(t.Context(), project); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
	})
}

// A call whose answer was lost may reach the hosting system after the match's server was deallocated.
// Promise 7.
func TestServerOfALostCallIsDeallocatedTwice(t *testing.T) {
	results := map[string]*pb.Assignment{"a": {}}
	for name, end := range map[string]func(t *testing.T, s *state.Store, m *pb.Match, lost bool){
		"an error": func(t *testing.T, s *state.Store, m *pb.Match, lost bool) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{
				Holder: "one", Error: "E", MayHaveServer: lost,
			}, results)))
		},
		"a server that no ticket uses": func(t *testing.T, s *state.Store, m *pb.Match, lost bool) {
			must(t, second(s.DeleteTicket(t.Context(), project, "a", "")))
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{
				Holder: "one", Connection: "x:1", MayHaveServer: lost,
			}, results)))
		},
		"tickets that wait again": func(t *testing.T, s *state.Store, m *pb.Match, lost bool) {
			must(t, second(s.ReleaseMatch(t.Context(), project, m, "one", lost, "allocation")))
		},
	} {
		for _, lost := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, lost %v", name, lost), func(t *testing.T) {
				t.Parallel()
				suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
					s := open(state.Options{})
					revision, terms := setUp(t, s)
					create(t, s, "a")
					c := claim(revision, "m", "a")
					mustClaim(t, s, terms, c)
					must(t, third(take(t.Context(), s, c.Match, epoch0, at(10))))
					end(t, s, c.Match, lost)
					if lost || name == "a server that no ticket uses" {
						finish(t, s, epoch0, wantDeallocations(t, s, epoch0, "m")...)
					}
					if lost {
						wantDeallocations(t, s, epoch0.Add(59*time.Second))
						finish(t, s, at(60), wantDeallocations(t, s, at(60), "m")...)
					}
					wantDeallocations(t, s, epoch0.Add(100*time.Hour))
				})
			})
		}
	}
}

// Its players play the match for as long.
func TestGameServerIsStoredUntilItsExpiry(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		c := claim(revision, "m", "a")
		c.Match.Awaited = &pb.Awaited{Time: (100 * time.Hour).Milliseconds(), Match: "m", Config: "c"}
		mustClaim(t, s, terms, c)
		server := func(keep time.Duration) (state.MatchStatus, *pb.GameServer) {
			t.Helper()
			status, got, err := s.GameServer(t.Context(), project, "m", keep)
			must(t, err)
			return status, got
		}
		must(t, third(take(t.Context(), s, c.Match, epoch0, at(10))))
		if status, got := server(0); status != state.MatchActive || got != nil {
			t.Error(status, got)
		}
		want := &pb.GameServer{Config: "c", Hosting: &pb.Hosting{Fleet: "f", Keys: []byte{1}}, Backfill: "b", Allocated: 5}
		end := state.Outcome{Holder: "one", Readable: time.Minute, Connection: "x:1", Server: want,
			KeepServer: time.Hour}
		must(t, third(s.Assign(t.Context(), project, c.Match, end, map[string]*pb.Assignment{"a": {}})))
		expire := func(after time.Duration) {
			t.Helper()
			must(t, second(s.At(epoch0.Add(after)).Expire(t.Context(), project, 200*time.Hour, time.Minute, 10)))
		}
		// The server is stored for longer than the result, and calls extend the time.
		expire(time.Hour - time.Millisecond)
		for _, keep := range []time.Duration{3 * time.Hour, 2 * time.Hour} {
			status, got := server(keep)
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" || status != state.MatchAssigned {
				t.Errorf("%s: %s", status, diff)
			}
		}
		expire(3*time.Hour - time.Millisecond)
		if status, got := server(0); status != state.MatchAssigned || got == nil {
			t.Error(status, got)
		}
		search := func() error {
			again := ticket("again", 1)
			again.Owner = "owner-of-a"
			_, err := s.Creator(nil).CreateAs(t.Context(), project, state.Creation{Ticket: again,
				Settings: &pb.ProjectSettings{Tickets: &pb.TicketRules{Running: "refuse"}}})
			return err
		}
		kindOf(t, search(), problem.Conflict)
		expire(3 * time.Hour)
		must(t, search())
		if m, err := s.RunningMatch(t.Context(), project, "owner-of-a"); err != nil || m != nil {
			t.Errorf("a player plays %v, %v", m, err)
		}
		must(t, second(s.Played(t.Context(), project, "m"))) // its result may come late
		if status, got := server(9 * time.Hour); status != state.MatchForgotten || got != nil {
			t.Error(status, got)
		}
	})
}

// A holder that lost the lease may get another server for a match whose end is nearly forgotten.
// Promise 7.
func TestSecondServerIsKnownUntilItIsDeallocated(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		c := claim(revision, "m", "a", "b")
		mustClaim(t, s, terms, c)
		must(t, third(take(t.Context(), s, c.Match, epoch0, at(60))))
		must(t, second(s.At(at(11)).BeginAllocation(t.Context(), project, c.Match, tenSecondLease("two", time.Minute))))
		assign := func(s *state.Store, holder, connection string) {
			t.Helper()
			must(t, third(s.Assign(t.Context(), project, c.Match,
				state.Outcome{Holder: holder, Readable: time.Minute, Connection: connection},
				map[string]*pb.Assignment{"a": {}, "b": {}})))
		}
		assign(s.At(at(12)), "two", "x:2")
		late := at(12)
		var last []state.Deallocation
		for range 2 { // the server of the first call, which may be late
			last = wantDeallocations(t, s, late, "m")
			finish(t, s, late, last...)
			late = late.Add(time.Minute)
		}
		late = at(12).Add(24*time.Hour - time.Millisecond)
		assign(s.At(late), "one", "x:1")
		must(t, second(s.At(late.Add(time.Second)).Expire(t.Context(), project, 200*time.Hour, time.Minute, 10)))
		late = late.Add(2 * time.Second)
		finish(t, s, late, last...) // of another server, and late
		finish(t, s, late, wantDeallocations(t, s, late, "m")...)
		must(t, second(s.At(late.Add(time.Hour)).Expire(t.Context(), project, 200*time.Hour, time.Minute, 10)))
		if n := matchesKept(t, s); n > 0 {
			t.Errorf("%d keys are kept of a match whose servers are gone", n)
		}
	})
}

// Nothing is kept of a match that ended and never had a server, even while an allocator works on it.
func TestNothingIsKeptOfMatchesWithoutServers(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b", "c")
		lost, refused := claim(revision, "lost", "a"), claim(revision, "refused", "b")
		mustClaim(t, s, terms, lost, refused)
		if status, _, err := take(t.Context(), s, refused.Match, epoch0, at(100)); err != nil || status != state.MatchActive {
			t.Fatal(status, err)
		}
		if _, err := s.ReleaseMatch(t.Context(), project, refused.Match, "one", false, "allocation"); err != nil {
			t.Fatal(err)
		}
		released, _, err := s.At(at(10)).ReleaseOverdueMatches(t.Context(), project, 10)
		if err != nil || len(released) != 1 {
			t.Fatal(released, err)
		}
		isWaiting(t, s, "a", "b", "c")
		if n := matchesKept(t, s); n > 0 {
			t.Errorf("%d keys are kept of matches without servers", n)
		}
		// An allocator that took the match up too late learns that it has ended, and gives back the server that it got.
		status, _, err := take(t.Context(), s, lost.Match, at(11), at(20))
		if err != nil || status != state.MatchForgotten {
			t.Error(status, err)
		}
		end := state.Outcome{Holder: "two", Readable: time.Minute, Connection: "late:1"}
		if status, _, err := s.Assign(t.Context(), project, lost.Match, end, nil); err != nil ||
			status != state.MatchForgotten {
			t.Error(status, err)
		}
		due, err := s.ClaimDeallocations(t.Context(), []string{project}, 10, state.Backoff{First: time.Second})
		if err != nil || len(due[project]) != 1 || due[project][0].Match.GetId() != "lost" {
			t.Error(due, err)
		}
	})
}

// matchesKept counts the matches that are stored, and the sets that list them.
func matchesKept(t *testing.T, s *state.Store) int {
	t.Helper()
	n, err := s.MatchKeys(t.Context(), project)
	must(t, err)
	return n
}

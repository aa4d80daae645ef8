package state_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/state"
)

// take begins a match, as the one holder that it ever has.
func take(ctx context.Context, s *state.Store, m *pb.Match, now, claim time.Time) (state.MatchStatus, uint64, error) {
	b, err := s.BeginAllocation(ctx, project, m, hands("one", now, claim))
	return b.Status, b.Position, err
}

// hands hold for ten seconds.
func hands(holder string, now, claim time.Time) state.MatchLease {
	return state.MatchLease{Holder: holder, Now: now, Expires: now.Add(10 * time.Second),
		Deadline: claim.Add(-time.Second), ClaimDeadline: claim}
}

// retries are a second after the first try, and four at the most.
var retries = state.Backoff{First: time.Second, Max: 4 * time.Second}

// lent are the matches of the project whose servers are to be given back now.
func lent(t *testing.T, s *state.Store, now time.Time) []string {
	t.Helper()
	all, err := s.ClaimDeallocations(t.Context(), []string{"nobody's", project}, now, 10, retries)
	must(t, err)
	var ids []string
	for _, m := range all[project] {
		ids = append(ids, m.GetId())
	}
	slices.Sort(ids)
	return ids
}

func wantLent(t *testing.T, s *state.Store, now time.Time, want ...string) {
	t.Helper()
	if got := lent(t, s, now); !slices.Equal(got, want) {
		t.Errorf("%s after the start, lent are %v, want %v", now.Sub(epoch0), got, want)
	}
}

func TestAMatchIsInOneHolder(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		c := claim(revision, "m", "a", "b")
		mustClaim(t, s, terms, c)
		begin := func(holder string, after time.Duration, want state.Allocation) {
			t.Helper()
			got, err := s.BeginAllocation(t.Context(), project, c.Match, hands(holder, epoch0.Add(after),
				epoch0.Add(after+time.Minute)))
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, after %s: %s", holder, after, diff)
			}
		}
		hold := func(holder string, after time.Duration, want bool) {
			t.Helper()
			if got, err := s.RenewMatchLease(t.Context(), project, "m", holder, epoch0.Add(after)); err != nil || got != want {
				t.Errorf("%s holds: %v, %v, want %v", holder, got, err, want)
			}
		}
		hold("one", time.Hour, false) // it has not begun
		deadline := epoch0.Add(59 * time.Second).Local()
		begin("one", 0, state.Allocation{Status: state.MatchActive, First: true, Deadline: deadline})
		begin("two", 4*time.Second, state.Allocation{Status: state.MatchLeased, Wait: 6 * time.Second})
		hold("two", time.Hour, false)
		hold("one", 20*time.Second, true)
		begin("two", 19*time.Second, state.Allocation{Status: state.MatchLeased, Wait: time.Second})
		// Whoever takes it over has what is left of the time.
		begin("two", 20*time.Second, state.Allocation{Status: state.MatchActive, Deadline: deadline})
		hold("one", time.Hour, false)
		begin("one", 21*time.Second, state.Allocation{Status: state.MatchLeased, Wait: 9 * time.Second})
		begin("two", 22*time.Second, state.Allocation{Status: state.MatchActive, Deadline: deadline})
		must(t, s.ReleaseMatchLease(t.Context(), project, "m", "one")) // which is not the holder
		begin("one", 23*time.Second, state.Allocation{Status: state.MatchLeased, Wait: 9 * time.Second})
		must(t, s.ReleaseMatchLease(t.Context(), project, "m", "two"))
		begin("one", 24*time.Second, state.Allocation{Status: state.MatchActive, Deadline: deadline})
		// The claim's deadline is that of the first beginning as well.
		if released, _, err := s.ReleaseOverdueMatches(t.Context(), project, epoch0.Add(time.Minute), 10); err != nil ||
			len(released) != 1 {
			t.Error(released, err)
		}
		hold("one", time.Hour, false)
		begin("two", 70*time.Second, state.Allocation{Status: state.MatchReleased})
	})
}

// However a match ends with a server that nobody goes to: the server is among the returns until it was given back.
func TestUnusedServerIsDeallocated(t *testing.T) {
	results := map[string]*pb.Assignment{"a": {}, "b": {}}
	leave := func(t *testing.T, s *state.Store) {
		t.Helper()
		must(t, second(s.DeleteTicket(t.Context(), project, "a", "", epoch0)))
		must(t, second(s.DeleteTicket(t.Context(), project, "b", "", epoch0)))
	}
	for name, test := range map[string]struct {
		end     func(t *testing.T, s *state.Store, m *pb.Match)
		given   bool
		waiting []string
	}{
		"all are assigned": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0, Connection: "x:1"},
				results)))
		}, false, nil},
		"one has left": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, second(s.DeleteTicket(t.Context(), project, "a", "", epoch0)))
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0, Connection: "x:1"},
				results)))
		}, false, nil},
		"all have left": {func(t *testing.T, s *state.Store, m *pb.Match) {
			leave(t, s)
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0, Connection: "x:1"},
				results)))
		}, true, nil},
		"an error, and nothing is held": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0, Error: "E"}, results)))
		}, false, nil},
		"an error, and something may be held": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0, Error: "E",
				MayHaveServer: true}, results)))
			if got := assigned(t, s, "a"); got == nil {
				t.Error("the ticket has no error")
			}
		}, true, nil},
		"they wait again, and nothing is held": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, second(s.ReleaseMatch(t.Context(), project, m, false, "allocation", epoch0)))
		}, false, []string{"a", "b"}},
		"they wait again, and something may be held": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, second(s.ReleaseMatch(t.Context(), project, m, true, "allocation", epoch0)))
		}, true, []string{"a", "b"}},
		"a server that comes after an error": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0, Error: "E"}, results)))
			verdict, assigned, err := s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0,
				Connection: "x:1"}, results)
			if err != nil || verdict != state.MatchReleased || len(assigned) > 0 {
				t.Error(verdict, assigned, err)
			}
		}, true, nil},
		"a server that comes when nobody remembers": {func(t *testing.T, s *state.Store, m *pb.Match) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0, Error: "E"}, results)))
			must(t, second(s.Expire(t.Context(), project, epoch0.Add(-time.Hour), epoch0, 10)))
			verdict, assigned, err := s.Assign(t.Context(), project, m, state.Outcome{Now: epoch0, Expiry: epoch0,
				Connection: "x:1"}, results)
			if err != nil || verdict != state.MatchForgotten || len(assigned) > 0 {
				t.Error(verdict, assigned, err)
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
				must(t, third(take(t.Context(), s, c.Match, epoch0, terms.Deadline)))
				test.end(t, s, c.Match)
				isWaiting(t, s, test.waiting...)
				if !test.given {
					wantLent(t, s, epoch0.Add(time.Hour))
					return
				}
				// Nothing forgets it meanwhile.
				must(t, second(s.Expire(t.Context(), project, epoch0.Add(-time.Hour), epoch0.Add(100*time.Hour), 10)))
				wantLent(t, s, epoch0.Add(-time.Millisecond))
				wantLent(t, s, epoch0, "m")
				// Whoever has it may die: another one has it next, less and less often.
				wantLent(t, s, epoch0.Add(999*time.Millisecond))
				wantLent(t, s, epoch0.Add(time.Second), "m")
				wantLent(t, s, epoch0.Add(2999*time.Millisecond))
				wantLent(t, s, epoch0.Add(3*time.Second), "m")
				wantLent(t, s, epoch0.Add(6999*time.Millisecond))
				wantLent(t, s, epoch0.Add(7*time.Second), "m")
				wantLent(t, s, epoch0.Add(11*time.Second), "m")
				m, err := s.Match(t.Context(), project, "m")
				must(t, err)
				if !proto.Equal(m, c.Match) {
					t.Errorf("it is %v, was %v", m, c.Match)
				}
				for range 2 {
					must(t, s.FinishDeallocation(t.Context(), project, m, epoch0.Add(11*time.Second)))
				}
				wantLent(t, s, epoch0.Add(100*time.Hour))
				_, err = s.Match(t.Context(), project, "m")
				kindOf(t, err, problem.NotFound)
				lines, _ := told(t, s, nil)
				if n := len(slices.DeleteFunc(lines, func(line string) bool { return line != "returned m" })); n != 1 {
					t.Errorf("its return is told %d times", n)
				}
			})
		})
	}
}

// A match that is taken from a holder who may be asking for its server still: not before the holder has stopped, and
// twice, since a call of it may be under way.
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
		must(t, s.ReleaseMatchLease(t.Context(), project, "yielded", "one"))
		if released, _, err := s.ReleaseOverdueMatches(t.Context(), project, terms.Deadline, 10); err != nil ||
			len(released) != 3 {
			t.Fatal(released, err)
		}
		isWaiting(t, s, "a", "b", "c", "d", "e", "f")
		// Nobody ever asked for the third one's server.
		wantLent(t, s, terms.Deadline, "lost", "yielded")
		at := terms.Deadline
		must(t, s.FinishDeallocation(t.Context(), project, lost.Match, at))
		must(t, s.FinishDeallocation(t.Context(), project, yielded.Match, at))
		wantLent(t, s, at.Add(59*time.Second))
		wantLent(t, s, at.Add(time.Minute), "lost")
		must(t, s.FinishDeallocation(t.Context(), project, lost.Match, at.Add(time.Minute)))
		wantLent(t, s, at.Add(100*time.Hour))
	})
}

// A call whose answer was lost may reach the hosting system after the match's server was deallocated.
func TestServerOfALostCallIsDeallocatedTwice(t *testing.T) {
	results := map[string]*pb.Assignment{"a": {}}
	for name, end := range map[string]func(t *testing.T, s *state.Store, m *pb.Match, lost bool){
		"an error": func(t *testing.T, s *state.Store, m *pb.Match, lost bool) {
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{
				Now: epoch0, Expiry: epoch0, Error: "E", MayHaveServer: lost,
			}, results)))
		},
		"a server that no ticket uses": func(t *testing.T, s *state.Store, m *pb.Match, lost bool) {
			must(t, second(s.DeleteTicket(t.Context(), project, "a", "", epoch0)))
			must(t, third(s.Assign(t.Context(), project, m, state.Outcome{
				Now: epoch0, Expiry: epoch0, Connection: "x:1", MayHaveServer: lost,
			}, results)))
		},
		"tickets that wait again": func(t *testing.T, s *state.Store, m *pb.Match, lost bool) {
			must(t, second(s.ReleaseMatch(t.Context(), project, m, lost, "allocation", epoch0)))
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
					must(t, third(take(t.Context(), s, c.Match, epoch0, terms.Deadline)))
					end(t, s, c.Match, lost)
					if lost || name == "a server that no ticket uses" {
						wantLent(t, s, epoch0, "m")
						must(t, s.FinishDeallocation(t.Context(), project, c.Match, epoch0))
					}
					if lost {
						wantLent(t, s, epoch0.Add(59*time.Second))
						wantLent(t, s, epoch0.Add(time.Minute), "m")
						must(t, s.FinishDeallocation(t.Context(), project, c.Match, epoch0.Add(time.Minute)))
					}
					wantLent(t, s, epoch0.Add(100*time.Hour))
				})
			})
		}
	}
}

func TestWhatIsKeptOfAServer(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		c := claim(revision, "m", "a")
		mustClaim(t, s, terms, c)
		server := func(keep time.Time) (state.MatchStatus, *pb.GameServer) {
			t.Helper()
			verdict, got, err := s.GameServer(t.Context(), project, "m", keep)
			must(t, err)
			return verdict, got
		}
		must(t, third(take(t.Context(), s, c.Match, epoch0, terms.Deadline)))
		if verdict, got := server(epoch0); verdict != state.MatchActive || got != nil {
			t.Error(verdict, got)
		}
		want := &pb.GameServer{Config: "c", Hosting: &pb.Hosting{Fleet: "f", Keys: []byte{1}}, Backfill: "b", Allocated: 5}
		end := state.Outcome{Now: epoch0, Expiry: epoch0.Add(time.Minute), Connection: "x:1", Server: want,
			KeepServer: epoch0.Add(time.Hour)}
		must(t, third(s.Assign(t.Context(), project, c.Match, end, map[string]*pb.Assignment{"a": {}})))
		expire := func(after time.Duration) {
			t.Helper()
			must(t, second(s.Expire(t.Context(), project, epoch0.Add(-time.Hour), epoch0.Add(after), 10)))
		}
		// It is there for longer than the result is, and for as long as somebody asks for it.
		expire(time.Hour - time.Millisecond)
		for _, keep := range []time.Duration{3 * time.Hour, 2 * time.Hour} {
			verdict, got := server(epoch0.Add(keep))
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" || verdict != state.MatchAssigned {
				t.Errorf("%s: %s", verdict, diff)
			}
		}
		expire(3*time.Hour - time.Millisecond)
		if verdict, got := server(epoch0); verdict != state.MatchAssigned || got == nil {
			t.Error(verdict, got)
		}
		expire(3 * time.Hour)
		if verdict, got := server(epoch0.Add(9 * time.Hour)); verdict != state.MatchForgotten || got != nil {
			t.Error(verdict, got)
		}
	})
}

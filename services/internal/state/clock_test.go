package state_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/process/processtest"
	"matchmaker.dev/services/internal/state"
)

// replicas open stores of processes whose hosts' clocks are ahead, on a Redis with its own clock.
func replicas(t *testing.T) func(ahead time.Duration, limits state.Limits) *state.Store {
	t.Helper()
	url, log := embeddedtest.Redis(t), slog.New(slog.DiscardHandler)
	return func(ahead time.Duration, limits state.Limits) *state.Store {
		t.Helper()
		s, err := state.Open(state.Options{Server: state.Server{URL: url}, Log: log, Limits: limits,
			Host: func() time.Time { return time.Now().Add(ahead) }})
		must(t, err)
		t.Cleanup(func() { _ = s.Close() })
		must(t, s.Measure(t.Context()))
		return s
	}
}

const day = 24 * time.Hour

// creates creates n tickets of n players, and fails at the first that is refused.
func creates(t *testing.T, s *state.Store, name string, n int) {
	t.Helper()
	c := s.Creator(nil)
	for i := range n {
		id := fmt.Sprint(name, i)
		must(t, c.Create(t.Context(), project, &pb.Ticket{Id: id, Owner: id, Created: s.Now().UnixMilli()}))
	}
}

// The project may create 100 tickets a second and 500 at once, which is what it gains in five seconds. A replica whose
// clock is off by more uses up nothing of that.
func TestReplicasWithWrongClocksShareTheRates(t *testing.T) {
	for _, ahead := range []time.Duration{6 * time.Second, day, -day} {
		t.Run(fmt.Sprint(ahead), func(t *testing.T) {
			t.Parallel()
			open := replicas(t)
			limits := state.Limits{PlayerRate: 1, PlayerBurst: 20, ProjectRate: 100, ProjectBurst: 500}
			right, wrong := open(0, limits), open(ahead, limits)
			creates(t, wrong, "first", 1)
			creates(t, right, "second", 200)
			creates(t, wrong, "third", 200)
		})
	}
}

// What a replica of an older version wrote into the buckets, a day ahead, costs no more than empty buckets.
func TestBucketsFromTheFutureAreNotBelieved(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{Limits: state.Limits{PlayerRate: 1, PlayerBurst: 20, ProjectRate: 10, ProjectBurst: 50}})
		player := func(at time.Time, id string) error {
			return s.At(at).Creator(nil).Create(t.Context(), project, &pb.Ticket{Id: id, Owner: "ada"})
		}
		must(t, player(epoch0.Add(day), "tomorrow's"))
		must(t, player(epoch0, "now"))
		kindOf(t, player(epoch0, "at once"), problem.Limited)
		must(t, player(epoch0.Add(time.Second), "a second later"))
		rate := state.Rate{PerSecond: 2, Burst: 3}
		must(t, s.At(epoch0.Add(day)).Allow(t.Context(), project, "configs", rate))
		must(t, s.Allow(t.Context(), project, "configs", rate))
		kindOf(t, s.Allow(t.Context(), project, "configs", rate), problem.Limited)
		must(t, s.At(epoch0.Add(500*time.Millisecond)).Allow(t.Context(), project, "configs", rate))
		budget := state.Budget{Amount: 10 * time.Minute, Window: time.Hour}
		_, _, err := s.At(epoch0.Add(day)).Charge(t.Context(), project, "compile", time.Minute, budget)
		must(t, err)
		must(t, third(s.Charge(t.Context(), project, "compile", 0, budget))) // which sees it, and writes it anew
		left, empty, err := s.At(epoch0.Add(30*time.Minute)).Charge(t.Context(), project, "compile", 0, budget)
		if err != nil || left.Round(time.Second) != 5*time.Minute || empty != 0 {
			t.Errorf("half an hour later %v are left, %v, %v", left, empty, err)
		}
	})
}

// A director whose clock is a day ahead takes a lease and dies.
func TestLeaseOfADirectorADayAheadEnds(t *testing.T) {
	t.Parallel()
	open := replicas(t)
	dead, next := open(day, state.Limits{}), open(0, state.Limits{})
	hold := 100 * time.Millisecond
	first, err := dead.AcquireLease(t.Context(), project, "dead", hold)
	must(t, err)
	must(t, second(dead.Heartbeat(t.Context(), "dead", 1, hold)))
	wait(t, "the lease to end", func() bool {
		epoch, err := next.AcquireLease(t.Context(), project, "next", hold)
		must(t, err)
		return epoch > first
	})
	wait(t, "the dead director to be forgotten", func() bool {
		living, err := next.Heartbeat(t.Context(), "next", 1, time.Minute)
		must(t, err)
		return len(living) == 1
	})
}

// wait waits until something is so.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.After(2 * time.Minute); !ok(); {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatal("waited too long for " + what)
		}
	}
}

// The lease was written by a host a day ahead, as older versions did, or by a Redis whose clock was.
func TestLeasesFromTheFutureAreNotBelieved(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		_, terms := setUp(t, s.At(epoch0.Add(day)))
		create(t, s, "a")
		hold := 10 * time.Second
		leases, err := s.Leases(t.Context(), []string{project})
		must(t, err)
		if !leases[0].Free(epoch0, hold) {
			t.Error("the lease is not free")
		}
		if epoch, err := s.AcquireLease(t.Context(), project, "next", hold); err != nil || epoch != terms.Epoch+1 {
			t.Errorf("epoch %d after %d, %v", epoch, terms.Epoch, err)
		}
		must(t, second(s.At(epoch0.Add(day)).Heartbeat(t.Context(), "dead", 1, hold)))
		if living, err := s.Heartbeat(t.Context(), "next", 1, hold); err != nil || len(living) != 1 {
			t.Error(living, err)
		}
	})
}

// A director whose clock is 61 minutes ahead, or behind, looks after a project whose tickets may wait for an hour.
func TestDirectorWithAWrongClockDeletesNothing(t *testing.T) {
	t.Parallel()
	open := replicas(t)
	s := open(0, state.Limits{})
	creates(t, s, "t", 10)
	g := game("g", 1)
	must(t, second(s.CreateBackfill(t.Context(), project, g)))
	for _, ahead := range []time.Duration{61 * time.Minute, -61 * time.Minute} {
		wrong := open(ahead, state.Limits{})
		ages := state.Ages{Outbox: time.Minute, Waiting: time.Hour, Silence: time.Minute}
		due, err := wrong.DueWork(t.Context(), project, ages)
		if err != nil || due.Tickets || due.Backfills {
			t.Errorf("ahead by %s: due is %+v, %v", ahead, due, err)
		}
		e, err := wrong.Expire(t.Context(), project, time.Hour, time.Minute, 100)
		if err != nil || e.Abandoned != 0 {
			t.Errorf("ahead by %s: %+v, %v", ahead, e, err)
		}
		silent, _, err := wrong.DeleteSilentBackfills(t.Context(), project, time.Minute, 10)
		if err != nil || len(silent) != 0 {
			t.Errorf("ahead by %s: %v, %v", ahead, silent, err)
		}
	}
	// Even if a director did not know what Redis's clock says: the scripts do.
	lost := open(61*time.Minute, state.Limits{})
	lost.Unmeasure()
	if e, err := lost.Expire(t.Context(), project, time.Hour, time.Minute, 100); err != nil || e.Abandoned != 0 {
		t.Errorf("unmeasured: %+v, %v", e, err)
	}
}

// An allocator takes a lease that is shorter than its clock is behind.
func TestLeaseOfAnAllocatorThatIsBehindHolds(t *testing.T) {
	t.Parallel()
	open := replicas(t)
	s, behind := open(0, state.Limits{}), open(-61*time.Minute, state.Limits{})
	revision, terms := setUp(t, s)
	creates(t, s, "t", 2)
	c := claim(revision, "m", "t0", "t1")
	mustClaim(t, s, terms, c)
	hour := state.MatchLease{Holder: "behind", Hold: time.Hour, Search: time.Hour, Claim: time.Hour}
	if b, err := behind.BeginAllocation(t.Context(), project, c.Match, hour); err != nil || !b.First ||
		b.Search != time.Hour {
		t.Fatal(b, err)
	}
	hour.Holder = "other"
	b, err := s.BeginAllocation(t.Context(), project, c.Match, hour)
	if err != nil || b.Status != state.MatchLeased || b.Wait > time.Hour || b.Wait < 50*time.Minute {
		t.Errorf("%+v, %v", b, err)
	}
}

// Only the holder of the lease writes the result. The server of the one that lost it is given back.
// Promise 7.
func TestOnlyTheHolderAssigns(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		create(t, s, "a", "b")
		c := claim(revision, "m", "a", "b")
		mustClaim(t, s, terms, c)
		begin := func(holder string, seconds int) {
			t.Helper()
			b, err := s.At(at(seconds)).BeginAllocation(t.Context(), project, c.Match, tenSecondLease(holder, time.Minute))
			if err != nil || b.Status != state.MatchActive {
				t.Fatal(b, err)
			}
		}
		end := func(holder, connection string, seconds int, want state.MatchStatus) {
			t.Helper()
			o := state.Outcome{Holder: holder, Readable: time.Minute, Connection: connection, MayHaveServer: true}
			results := map[string]*pb.Assignment{"a": {Connection: connection}, "b": {Connection: connection}}
			status, _, err := s.At(at(seconds)).Assign(t.Context(), project, c.Match, o, results)
			if err != nil || status != want {
				t.Errorf("%s assigns %s: %q, %v, want %q", holder, connection, status, err, want)
			}
		}
		var claimed []state.Deallocation
		due := func(seconds int, want ...state.Deallocation) {
			t.Helper()
			all, err := s.At(at(seconds)).ClaimDeallocations(t.Context(), []string{project}, 10, retries)
			must(t, err)
			claimed = all[project]
			same := func(a, b state.Deallocation) bool { return a.Match.GetId() == b.Match.GetId() && a.Used == b.Used }
			if !slices.EqualFunc(claimed, want, same) {
				t.Errorf("after %d s: %+v, want %+v", seconds, claimed, want)
			}
		}
		begin("one", 0)
		begin("two", 11)
		end("one", "1.1.1.1:1", 12, state.MatchLeased)
		if position, err := s.At(at(12)).ReleaseMatch(t.Context(), project, c.Match, "one", true, "allocation"); err != nil ||
			position != 0 {
			t.Error("one that lost the lease releases the match:", position, err)
		}
		end("two", "2.2.2.2:2", 13, state.MatchActive)
		if got := assigned(t, s, "a").GetConnection(); got != "2.2.2.2:2" {
			t.Errorf("the ticket has %s", got)
		}
		others := state.Deallocation{Match: c.Match, Used: "2.2.2.2:2"}
		due(13, others)
		finish(t, s, at(13), claimed...)
		due(72)
		due(73, others) // a call of the first may still have been on its way
		finish(t, s, at(73), claimed...)
		due(1000)
		// It comes much later.
		end("one", "2.2.2.2:2", 1000, state.MatchAssigned)
		due(1000)
		end("one", "1.1.1.1:1", 1000, state.MatchAssigned)
		due(1000, others)
		finish(t, s, at(1000), claimed...)
		due(5000)
		must(t, second(s.At(at(5000)).Expire(t.Context(), project, time.Hour, time.Minute, 10)))
		must(t, second(s.At(at(13).Add(2*day)).Expire(t.Context(), project, 100*day, time.Minute, 10)))
		if left, err := s.Leftovers(t.Context(), project); err != nil || len(left) != 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// Redis fails over to a server whose clock differs by a minute.
func TestRedisClockJumps(t *testing.T) {
	for _, jump := range []time.Duration{time.Minute, -time.Minute} {
		t.Run(fmt.Sprint(jump), func(t *testing.T) {
			suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
				s := open(state.Options{Limits: state.Limits{PlayerRate: 1, PlayerBurst: 20, ProjectRate: 10, ProjectBurst: 50}})
				revision, terms := setUp(t, s)
				create(t, s, "a", "b", "c", "d", "e")
				claimed, allocating := claim(revision, "claimed", "a", "b"), claim(revision, "allocating", "c", "d")
				mustClaim(t, s, terms, claimed, allocating)
				must(t, third(take(t.Context(), s, allocating.Match, epoch0, at(20))))
				g := game("g", 1)
				must(t, second(s.CreateBackfill(t.Context(), project, g)))

				// Nothing is deleted early: e waits for almost as long as it may, and the game's server called lately.
				young := s.At(at(59*60 + 59).Add(jump))
				if e, err := young.Expire(t.Context(), project, time.Hour, time.Minute, 10); err != nil || e.Abandoned != 0 {
					t.Errorf("%+v, %v", e, err)
				}
				called := s.At(at(59).Add(jump))
				if silent, _, err := called.DeleteSilentBackfills(t.Context(), project, time.Minute, 10); err != nil ||
					len(silent) != 0 {
					t.Errorf("%v, %v", silent, err)
				}
				// Leases end a minute late at most. The epoch and the holder keep what is the next one's.
				late := at(1 + 60)
				next := s.At(late)
				epoch, err := next.At(late.Add(min(jump, 0)+time.Minute)).AcquireLease(t.Context(), project, "director-2",
					time.Second)
				if err != nil || epoch <= terms.Epoch {
					t.Fatalf("epoch %d, %v", epoch, err)
				}
				if _, err := s.Claim(t.Context(), project, terms, []*state.Claim{claim(revision, "x", "e")}); err == nil {
					t.Error("the director that lost the lease claims")
				}
				// A player that created just now may create again, at the rate.
				at3 := s.At(at(3).Add(jump)).Creator(nil)
				must(t, at3.Create(t.Context(), project, ticket("f", 3)))
				// Overdue matches are released after a minute more at most, and their tickets wait again.
				released, _, err := s.At(at(20+60)).ReleaseOverdueMatches(t.Context(), project, 10)
				if err != nil || len(released) != 2 {
					t.Error(released, err)
				}
				isWaiting(t, s, "a", "b", "c", "d", "e", "f")
				strays, err := s.Strays(t.Context(), project)
				if err != nil || len(strays) > 0 {
					t.Error("the waiting set is wrong about:", strays, err)
				}
			})
		})
	}
}

// What is due was written by a Redis whose clock was three days ahead. After a look it is due after its longest time.
// What the right clock wrote keeps its time, and so do a match in the hands of an allocator and one that waits for its
// game's server.
func TestWhatIsDueTooLateIsDueSooner(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		then := epoch0.Add(3 * day)
		ahead := s.At(then)
		revision, terms := setUp(t, ahead)
		terms.Approval = 20 * time.Second
		must(t, second(ahead.CreateBackfill(t.Context(), project, game("g", 1))))
		generation, err := ahead.Generation(t.Context(), project, "g")
		must(t, err)
		create(t, s, "a", "b", "c", "d", "e", "f", "x")
		begun, gone := claim(revision, "begun", "b"), claim(revision, "gone", "c")
		joins := fill(revision, &pb.Backfill{Id: "g", Generation: generation}, game("g", 1), "e")
		claims := []*state.Claim{claim(revision, "claimed", "a"), begun, gone, offer(revision, "m", "d"), joins,
			awaiting(revision, "played", "f")}
		mustClaim(t, ahead, terms, claims...)
		right := claim(revision, "right", "x")
		mustClaim(t, s, terms, right)
		for _, c := range append(claims, right) {
			if c.Refusal != "" {
				t.Fatalf("%s is refused: %s", c.Match.GetId(), c.Refusal)
			}
		}
		for _, c := range []*state.Claim{begun, gone} {
			must(t, third(take(t.Context(), s, c.Match, then, then.Add(20*time.Second))))
		}
		must(t, second(ahead.ReleaseMatch(t.Context(), project, gone.Match, "one", true, "allocation")))
		must(t, s.Do(t.Context(), "ZADD", "mm:{"+project+"}:joins", "+inf", "waits"))
		for _, want := range []int{7, 0} {
			due, err := s.DueWork(t.Context(), project, state.Ages{Claim: terms.Claim, Approval: terms.Approval})
			must(t, err)
			if n, err := s.CapDue(t.Context(), project, due); err != nil || n != want {
				t.Errorf("%d were due too late, %v, want %d", n, err, want)
			}
		}
		outbox, err := s.At(at(1)).Outbox(t.Context(), project, time.Second, 10)
		if slices.Sort(outbox); err != nil || !slices.Equal(outbox, []string{"claimed", "right"}) {
			t.Errorf("in the outbox: %v, %v", outbox, err)
		}
		releases := func(seconds int, want string) {
			t.Helper()
			released, _, err := s.At(at(seconds)).ReleaseOverdueMatches(t.Context(), project, 10)
			if err != nil || fmt.Sprint(released) != want {
				t.Errorf("after %d s %v were released, %v, want %s", seconds, released, err, want)
			}
		}
		releases(10, "[right]")
		releases(119, "[]")
		if o, err := s.At(at(21)).EndOverdueJoins(t.Context(), project, time.Minute, 10); err != nil || o.Games != 1 {
			t.Errorf("overdue: %+v, %v", o, err)
		}
		if ended := endAcceptances(t, s.At(at(120))); len(ended.Failed) != 1 {
			t.Errorf("ended: %+v", ended)
		}
		releases(120, "[claimed]")
		silent, _, err := s.At(at(120)).DeleteSilentBackfills(t.Context(), project, time.Minute, 10)
		if err != nil || !slices.Equal(silent, []string{"g"}) {
			t.Errorf("silent: %v, %v", silent, err)
		}
		wantDeallocations(t, s, at(599))
		wantDeallocations(t, s, at(600), "gone")
		if missing, _, err := s.At(epoch0.Add(day)).SweepResults(t.Context(), project, 10); err != nil || missing != 1 {
			t.Errorf("%d results are missing, %v", missing, err)
		}
	})
}

// A lease that was taken before Redis's clock jumped back ends no later than a minute after it would have ended.
func TestLeaseEndsAMinuteLateAtMost(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		hold := 10 * time.Second
		must(t, second(s.AcquireLease(t.Context(), project, "dead", hold)))
		for _, back := range []time.Duration{time.Minute, 2 * time.Minute, day} {
			seconds := 0
			for ; seconds <= 70; seconds++ { // that really passed
				epoch, err := s.At(at(seconds).Add(-back)).AcquireLease(t.Context(), project, fmt.Sprint(back), hold)
				must(t, err)
				if epoch > 0 {
					break
				}
			}
			if seconds > 70 {
				t.Fatalf("back by %s: the lease lasts for more than %d s", back, seconds-1)
			}
			must(t, second(s.AcquireLease(t.Context(), project, fmt.Sprint(back), hold)))
		}
	})
}

// A process knows Redis's clock whatever its host's says, and says when that is off.
func TestProcessKnowsRedisClock(t *testing.T) {
	t.Parallel()
	var log processtest.Buffer
	var ahead atomic.Int64
	ahead.Store(int64(day))
	server, err := embedded.StartMemory(0, "")
	must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	s, err := state.Open(state.Options{Server: state.Server{URL: server.URL()},
		Log: slog.New(slog.NewTextHandler(&log, nil)), Host: func() time.Time {
			return time.Now().Add(time.Duration(ahead.Load()))
		}})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	if _, known := s.ClockAhead(); known || s.ClockOff() != "" {
		t.Error("the clock is known before it was measured")
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = s.KeepTime(ctx) })
	defer func() { stop(); running.Wait() }()
	wait(t, "a line about the clock", func() bool { return strings.Contains(log.String(), "clock of this host is off") })
	if gap := time.Until(s.Now()).Abs(); gap > time.Minute {
		t.Errorf("the process's time is off by %s", gap)
	}
	// Scripts do, too.
	if epoch, err := s.AcquireLease(ctx, project, "a", time.Hour); err != nil || epoch == 0 {
		t.Error(epoch, err)
	}
	leases, err := s.Leases(ctx, []string{project})
	must(t, err)
	if left := time.Until(leases[0].Expires); left > time.Hour || left < 50*time.Minute {
		t.Errorf("the lease lasts for %s", left)
	}
	if off := s.ClockOff(); off != "the clock of this host is 24h0m0s ahead of Redis's" {
		t.Error(off)
	}
}

// The best measurement counts, until one shows that Redis's clock jumped.
func TestMeasurements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c state.Measured
		c.Init(time.Now)
		start := time.Now()
		learn := func(redis, bound, wantJump time.Duration) {
			t.Helper()
			jump := c.Learn(time.Now().Add(redis), time.Now(), bound)
			if (jump - wantJump).Abs() > 2*time.Second {
				t.Errorf("the jump is %s, want %s", jump, wantJump)
			}
		}
		offset := func(want time.Duration) {
			t.Helper()
			if got := time.Until(c.Now()); (got - want).Abs() > time.Microsecond {
				t.Errorf("after %s the offset is %s, want %s", time.Since(start), got, want)
			}
		}
		learn(3*time.Second, 2*time.Millisecond, 0)
		offset(3 * time.Second)
		<-time.After(5 * time.Second)
		offset(3*time.Second - 500*time.Microsecond) // clocks drift
		learn(2500*time.Millisecond, time.Second, 0) // a slow answer says nothing new
		offset(3*time.Second - 500*time.Microsecond)
		learn(3*time.Second+time.Millisecond, 10*time.Millisecond, 0)
		offset(3*time.Second + time.Millisecond)
		learn(-57*time.Second, time.Second, -time.Minute)
		offset(-57 * time.Second)
		learn(63*time.Second, time.Second, 2*time.Minute)
		offset(63 * time.Second)
	})
}

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/wasm/wasmtest"
)

// pass lets time pass in a bubble of synctest.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the bubble's time

// queue is lanes whose turns end when the test says so. It is for the bubble of synctest.
type queue struct {
	*lanes
	mu      sync.Mutex // guards granted: two turns may begin at once
	granted []string
	ends    map[string]chan struct{}
}

func newQueue(places int) *queue {
	return &queue{lanes: newLanes(places, time.Now), ends: map[string]chan struct{}{}}
}

// want queues a turn of the quick lane, and returns when it has begun or waits.
func (q *queue) want(owner, name string) { q.wantOf(owner, name, 0) }

func (q *queue) wantOf(owner, name string, expects time.Duration) {
	end := make(chan struct{})
	q.ends[name] = end
	go func() {
		t, err := q.enter(context.Background(), &q.quick, map[string]bool{owner: true}, expects)
		if err != nil {
			panic(err)
		}
		q.mu.Lock()
		q.granted = append(q.granted, name)
		q.mu.Unlock()
		<-end
		q.leave(t)
	}()
	synctest.Wait()
}

func (q *queue) end(name string) {
	close(q.ends[name])
	synctest.Wait()
}

// However many turns strangers want, and however many strangers there are, who had nothing lately is next.
func TestWhoHadLeastIsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		for _, stranger := range []string{"a", "b", "c"} {
			q.charge(stranger, &turn{since: time.Now()}, 29*time.Second)
		}
		q.charge("a", &turn{since: time.Now()}, time.Second)
		q.charge("c", &turn{since: time.Now()}, time.Second)
		q.want("a", "a1")
		for n := 2; n <= 5; n++ {
			for _, stranger := range []string{"a", "b", "c"} {
				q.want(stranger, fmt.Sprint(stranger, n))
			}
		}
		q.want("small", "small1")
		q.end("a1")
		q.charge("small", &turn{since: time.Now()}, time.Second)
		q.want("small", "small2")
		q.end("small1")
		q.end("small2") // 1 s is less than theirs
		q.charge("b", &turn{since: time.Now()}, 5*time.Second)
		q.end("b2") // of the others, a came first
		want := []string{"a1", "small1", "small2", "b2", "a2"}
		if got := q.granted[:len(want)]; !slices.Equal(got, want) {
			t.Errorf("granted in the order %v, want %v", got, want)
		}
		for name, end := range q.ends {
			if !slices.Contains(want[:4], name) { // those have ended
				close(end)
			}
		}
	})
}

func TestTurnsOfAnOwnerGoInOrderAndRunsUnderWayCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2)
		q.want("a", "a1")
		pass(time.Second)
		q.want("b", "b1")
		q.want("a", "a2")
		q.want("a", "a3")
		q.want("c", "c1")
		q.want("b", "b2")
		q.end("b1") // b has no run now, and had nothing: before a, and after c, which came first
		q.end("c1")
		q.end("b2")
		q.end("a2")
		if want := []string{"a1", "b1", "c1", "b2", "a2", "a3"}; !slices.Equal(q.granted, want) {
			t.Errorf("granted in the order %v, want %v", q.granted, want)
		}
		q.end("a1")
		q.end("a3")
	})
}

// However many strangers without usage wait with large modules, a small one of somebody without usage is next.
func TestSmallModulesGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2)
		for n := range 20 {
			q.wantOf(fmt.Sprint("stranger", n), fmt.Sprint("large", n), quickProcessor)
		}
		q.wantOf("victim", "small", time.Second)
		q.charge("used", &turn{since: time.Now()}, 2*time.Second)
		q.wantOf("used", "of used", time.Second)
		q.end("large0")
		q.end("small")
		if want := []string{"large0", "large1", "small", "large2"}; !slices.Equal(q.granted, want) {
			t.Errorf("granted in the order %v, want %v", q.granted, want)
		}
		for n := 1; n < 20; n++ {
			close(q.ends[fmt.Sprint("large", n)])
		}
		close(q.ends["of used"])
	})
}

// A module that sleeps takes no processor, but the place.
func TestWhoHoldsAPlacePaysForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		q.charge("works", &turn{since: time.Now()}, 2*time.Second)
		began := &turn{since: time.Now()}
		pass(3 * time.Second)
		q.charge("sleeps", began, 0)
		q.want("other", "first")
		q.want("sleeps", "sleeps")
		q.want("works", "works")
		for _, name := range []string{"first", "works", "sleeps"} {
			q.end(name)
		}
		if want := []string{"first", "works", "sleeps"}; !slices.Equal(q.granted, want) {
			t.Errorf("granted in the order %v, want %v", q.granted, want)
		}
	})
}

func TestWhoStopsWaitingLeavesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		q.want("a", "a1")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := q.enter(ctx, &q.quick, map[string]bool{"b": true}, 0)
			ended <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("enter = %v", err)
		}
		q.end("a1")
		q.want("c", "c1")
		if want := []string{"a1", "c1"}; !slices.Equal(q.granted, want) {
			t.Errorf("granted %v, want %v", q.granted, want)
		}
		q.end("c1")
		if len(q.quick.running)+len(q.quick.waiting) > 0 {
			t.Error("turns are left")
		}
	})
}

// When many instances are to start at once, few do at a time. Those of who started least are next, and one that takes
// long gives up its place.
func TestInstancesStartInTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fakeBox()
		began := time.Now()
		var mu sync.Mutex
		var order []string
		start := func(owner string, takes time.Duration) {
			started, err := b.enterStart(t.Context(), owner)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, fmt.Sprintf("%v %s", time.Since(began), owner))
			mu.Unlock()
			pass(takes)
			started()
		}
		for range 2 {
			go start("slow", 5*time.Second)
			synctest.Wait()
		}
		for range 3 {
			go start("many", 500*time.Millisecond)
			synctest.Wait()
		}
		go start("slow", 0)
		synctest.Wait()
		go start("one", 0)
		synctest.Wait()
		pass(10 * time.Second)
		synctest.Wait()    // also so that what they wrote may be read
		slices.Sort(order) // who starts at the same time is told in any order
		want := []string{"0s slow", "0s slow", "1.5s many", "1.5s slow", "1s many", "1s many", "1s one"}
		if !slices.Equal(order, want) {
			t.Errorf("started: %q, want %q", order, want)
		}
		if len(b.starts.quick.running)+len(b.starts.quick.waiting) > 0 {
			t.Error("turns are left")
		}
	})
}

// fakeBox is a Box without folder and processes.
func fakeBox() *Box {
	return &Box{
		lanes: newLanes(1, time.Now), starts: newLanes(2, time.Now), now: time.Now,
		loadings: map[string]*loading{}, cached: map[string]*cacheEntry{},
		cacheLimits: CacheLimits{Held: gib}, limits: DefaultLimits(),
		refused: refusals{now: time.Now, known: map[string]refused{}},
	}
}

// What does not fit into the quick lane leaves it, and so small modules never stand behind large ones.
func TestSlowModulesLeaveTheQuickLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fakeBox()
		var mu sync.Mutex
		var order []string
		began := time.Now()
		compile := func(owner string, needs time.Duration) {
			err := b.loadInLanes(t.Context(), owner, &loading{owners: map[string]bool{owner: true}},
				func(_ context.Context, s stage) (time.Duration, error) {
					pass(min(needs, s.processor))
					if needs > s.processor {
						return s.processor, failure(Deadline, "too long")
					}
					return needs, nil
				})
			if err != nil {
				t.Errorf("%s: %v", owner, err)
			}
			mu.Lock()
			defer mu.Unlock()
			order = append(order, fmt.Sprintf("%s after %v", owner, time.Since(began).Round(time.Second)))
		}

		for _, stranger := range []string{"a", "b", "c", "d"} {
			go compile(stranger, 20*time.Second)
			synctest.Wait()
		}
		pass(12 * time.Second) // all of them are in the slow lane
		go compile("small", time.Second)
		pass(2 * time.Minute)
		synctest.Wait()
		want := []string{"small after 13s", "a after 22s", "b after 42s", "c after 1m2s", "d after 1m22s"}
		if !slices.Equal(order, want) {
			t.Errorf("ended: %q, want %q", order, want)
		}
	})
}

// What is expected to be slow does not try the quick lane, so that it is in nobody's way there.
func TestModulesThatAreExpectedToBeSlowDoNotTryTheQuickLane(t *testing.T) {
	b := fakeBox()
	for _, test := range []struct {
		expects time.Duration
		tried   []bool // in the slow lane
	}{
		{time.Second, []bool{false, true}}, {5 * time.Second, []bool{false, true}}, {5*time.Second + 1, []bool{true}},
		{time.Hour, []bool{true}},
	} {
		var tried []bool
		l := &loading{owners: map[string]bool{"a": true}, expects: test.expects}
		err := b.loadInLanes(t.Context(), "a", l, func(_ context.Context, s stage) (time.Duration, error) {
			tried = append(tried, s.last)
			if !s.last {
				return time.Second, failure(Deadline, "too long")
			}
			return time.Second, nil
		})
		if err != nil || !slices.Equal(tried, test.tried) || !l.cost.Slow {
			t.Errorf("expected to take %v: tried in the slow lane %v, want %v; %v", test.expects, tried, test.tried, err)
		}
	}
}

// Each kind of module that keeps the compiler busy goes to the slow lane when there is much of it, or is refused before
// a compiler sees it. Little of it tries the quick one, and so do modules that compilers make.
func TestExpensiveModulesGoToTheSlowLane(t *testing.T) {
	b := fakeBox()
	for _, c := range append(wasmtest.Structures(), wasmtest.Instructions()...) {
		if expects, err := b.checkShape(c.Module(max(c.Size/4, 100), 1)); err != nil || !b.isQuick(expects) {
			t.Errorf("a little of %s: expected to take %v, %v", c.Name, expects, err)
		}
		if c.Size == 0 {
			continue
		}
		if expects, err := b.checkShape(c.Module(c.Size, 14)); err == nil && b.isQuick(expects) {
			t.Errorf("much of %s: expected to take %v", c.Name, expects)
		}
	}
}

// A refusal in the quick lane that more time would not change is final.
func TestRefusalsAreNotTriedAgain(t *testing.T) {
	b := fakeBox()
	tries := 0
	err := b.loadInLanes(t.Context(), "a", &loading{owners: map[string]bool{"a": true}},
		func(context.Context, stage) (time.Duration, error) {
			tries++
			return time.Second, failure(Invalid, "no function")
		})
	if err == nil || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
	for _, cause := range []Cause{Memory, Died} {
		tries = 0
		l := &loading{owners: map[string]bool{"a": true}}
		err = b.loadInLanes(t.Context(), "a", l, func(_ context.Context, s stage) (time.Duration, error) {
			tries++
			return s.processor, problem.Wrap(problem.Invalid, failure(cause, "more"), "refused")
		})
		if err == nil || tries != 2 || l.cost.Processor != 32*time.Second || !l.cost.Slow {
			t.Errorf("%s: %d tries, %v, cost %+v", cause, tries, err, l.cost)
		}
	}
}

// All who load the same module at the same time share one compilation, which goes on while one of them waits.
func TestTheSameModuleIsLoadedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fakeBox()
		const hash = "00"
		compiled := 0
		load := func(ctx context.Context, _ *loading) (*Module, error) {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			compiled++
			return b.addToCache(&Module{Hash: hash}), nil
		}
		give, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 11)
		go func() {
			_, _, err := b.share(give, "a", hash, load)
			ended <- err
		}()
		synctest.Wait()
		for range 10 {
			go func() {
				m, _, err := b.share(t.Context(), "b", hash, load)
				if err == nil && m.Hash != hash {
					err = errors.New("another module")
				}
				ended <- err
			}()
		}
		synctest.Wait()
		cancel() // the first one gives up
		failed := 0
		for range 11 {
			if <-ended != nil {
				failed++
			}
		}
		if compiled != 1 || failed != 1 || b.cached[hash].holders["b"] != 10 || len(b.loadings) > 0 {
			t.Errorf("compiled %d times, %d failed, %d hold it", compiled, failed, b.cached[hash].holders["b"])
		}
	})
}

// When all gave up, the compilation ends, and who comes then begins another.
func TestLoadingEndsWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fakeBox()
		stopped := 0
		load := func(ctx context.Context, _ *loading) (*Module, error) {
			<-ctx.Done()
			pass(time.Second) // until the child is dead
			stopped++
			return nil, ctx.Err()
		}
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _, _, _ = b.share(ctx, "a", "00", load) }()
			synctest.Wait()
			cancel()
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, _, err := b.share(ctx, "b", "00", func(context.Context, *loading) (*Module, error) {
			return nil, failure(Invalid, "refused")
		})
		if e, ok := errors.AsType[*Error](err); !ok || e.Cause != Invalid || stopped == 0 {
			t.Errorf("share = %v after %d were stopped", err, stopped)
		}
	})
}

func TestRefusalsAreRememberedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := refusals{now: time.Now, known: map[string]refused{}}
		r.remember("bad", problem.New(problem.Invalid, "bad"))
		r.remember("slow", problem.Wrap(problem.Invalid, failure(Deadline, "slow"), "slow"))
		r.remember("busy", problem.New(problem.Unavailable, "no process"))
		if r.of("bad") == nil || r.of("slow") == nil || r.of("busy") != nil {
			t.Error("not the module's own errors are remembered")
		}
		pass(timeoutAge)
		if r.of("bad") == nil || r.of("slow") != nil {
			t.Error("a time-out is remembered for as long as a refusal")
		}
		pass(refusalAge)
		if r.of("bad") != nil || len(r.known) > 0 {
			t.Error("a refusal is never forgotten")
		}
		for n := range 2 * maxRefusals {
			r.remember(fmt.Sprint(n), problem.New(problem.Invalid, "bad"))
		}
		if len(r.known) != maxRefusals {
			t.Errorf("%d are remembered", len(r.known))
		}
	})
}

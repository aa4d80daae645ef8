package sandbox

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/quota"
)

// pass lets time pass in a bubble of synctest.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // the bubble's time

// fakeBox is a Supervisor without folder and processes.
func fakeBox() *Supervisor {
	b := &Supervisor{
		now: time.Now, cached: map[string]*cacheEntry{},
		cacheLimits: CacheLimits{Held: gib}, limits: DefaultLimits(),
	}
	b.makeQueues()
	b.starts = quota.NewQueue(quota.Options{Places: 2, Now: time.Now})
	return b
}

// When many instances are to start at once, few do at a time. The instances of the owner that started least are next,
// and one that takes long gives up its place.
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
		slices.Sort(order) // owners that start at the same time are in any order
		want := []string{"0s slow", "0s slow", "1.5s many", "1.5s slow", "1s many", "1s many", "1s one"}
		if !slices.Equal(order, want) {
			t.Errorf("started: %q, want %q", order, want)
		}
		b.starts.Open(func(owner string, held, waiting int) { t.Errorf("%s has %d, and waits for %d", owner, held, waiting) })
	})
}

// A module that does not fit into the quick stage leaves it, so small modules never stand behind large ones.
func TestSlowModulesLeaveTheQuickStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fakeBox()
		var mu sync.Mutex
		var order []string
		began := time.Now()
		compile := func(owner string, needs time.Duration) {
			_, err := b.inStages(t.Context(), owner, func(_ context.Context, s stage) (time.Duration, error) {
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
			pass(time.Millisecond)
		}
		pass(12 * time.Second) // all of them are in the slow stage
		go compile("small", time.Second)
		pass(2 * time.Minute)
		synctest.Wait()
		want := []string{"small after 13s", "a after 22s", "b after 42s", "c after 1m2s", "d after 1m22s"}
		if !slices.Equal(order, want) {
			t.Errorf("ended: %q, want %q", order, want)
		}
	})
}

// An owner whose module was slow lately does not take places of the quick stage again.
func TestOwnersOfSlowModulesDoNotTryTheQuickStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := fakeBox()
		for i, want := range [][]bool{{false, true}, {true}} {
			var tried []bool // in the slow stage
			cost, err := b.inStages(t.Context(), "a", func(_ context.Context, s stage) (time.Duration, error) {
				if tried = append(tried, s.last); !s.last {
					return s.processor, failure(Deadline, "too long")
				}
				return 25 * time.Second, nil
			})
			if err != nil || !slices.Equal(tried, want) || !cost.Slow {
				t.Errorf("module %d: tried in the slow stage %v, want %v; %v", i, tried, want, err)
			}
		}
	})
}

// A refusal in the quick stage that more time would not change is final.
func TestRefusalsAreNotTriedAgain(t *testing.T) {
	b := fakeBox()
	tries := 0
	_, err := b.inStages(t.Context(), "a", func(context.Context, stage) (time.Duration, error) {
		tries++
		return time.Second, failure(Invalid, "no function")
	})
	if err == nil || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
	for _, cause := range []Cause{Memory, Died} {
		tries = 0
		cost, err := b.inStages(t.Context(), fmt.Sprint(cause), func(_ context.Context, s stage) (time.Duration, error) {
			tries++
			return s.processor, problem.Wrap(problem.Invalid, failure(cause, "more"), "refused")
		})
		if err == nil || tries != 2 || cost.Processor != 32*time.Second || !cost.Slow {
			t.Errorf("%s: %d tries, %v, cost %+v", cause, tries, err, cost)
		}
	}
}

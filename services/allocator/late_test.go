package allocator_test

import (
	"errors"
	"testing"
	"time"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/wait/waittest"
)

// A call whose answer was lost may reach the hosting system after the match has ended, and after the match's server was
// deallocated. A second deallocation, a minute later, ends the server of that call.
// Promise 7.
func TestServerOfACallThatArrivesLateIsDeallocated(t *testing.T) {
	refused := provider.Fail(provider.Refused, "the image does not start")
	for name, test := range map[string]struct {
		second  func(w *world, r *provider.Request) (provider.Result, error)
		requeue string
	}{
		"the allocation failed": {second: func(*world, *provider.Request) (provider.Result, error) {
			return provider.Result{Status: provider.Failed, Err: refused}, nil
		}},
		"the allocation was refused": {second: func(*world, *provider.Request) (provider.Result, error) {
			return provider.Result{}, refused
		}},
		"no ticket is left": {second: func(w *world, r *provider.Request) (provider.Result, error) {
			w.leaves("a")
			return allocateAtOnce(2, r)
		}},
		"the tickets wait again": {requeue: definition.Requeue, second: func(*world, *provider.Request) (provider.Result,
			error) {
			return provider.Result{}, provider.Fail(provider.FleetEmpty, "the fleet is empty")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			s := &script{allocate: func(n int, r *provider.Request) (provider.Result, error) {
				if n == 1 {
					return provider.Result{}, errors.New("connection reset by peer")
				}
				return test.second(w, r)
			}}
			w = start(t, s, brief)
			w.requeue = test.requeue
			w.claim("m", "a")
			w.send("m")
			select {
			case <-s.released:
			case <-time.After(patience):
				t.Fatal("the match was not deallocated")
			}
			s.mu.Lock()
			s.held["m"] = true // the first call arrives
			s.mu.Unlock()
			waittest.Until(t, "the second deallocation", func() bool {
				w.ahead.Add(int64(time.Minute))
				return !s.holds("m")
			})
		})
	}
}

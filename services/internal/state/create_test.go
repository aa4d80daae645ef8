package state_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// While a group is written, two more gather. What comes beyond them is refused at once, and stores nothing; each may
// come again at a time of its own.
func TestCreatesBeyondTheQueueAreRefused(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		const come, queued = 400, 256
		written, goOn := make(chan struct{}), make(chan struct{})
		once := sync.OnceFunc(func() { close(written); <-goOn })
		creator := s.Creator(func(context.Context, string, uint64, ...string) { once() })
		first := make(chan error, 1)
		go func() { first <- creator.Create(t.Context(), project, ticket("first", 0)) }()
		<-written
		errs := make([]error, come)
		var all, refused sync.WaitGroup
		refused.Add(come - queued)
		for i := range come {
			all.Go(func() {
				errs[i] = creator.Create(t.Context(), project, ticket(fmt.Sprint("t", i), 0))
				if errs[i] != nil {
					refused.Done()
				}
			})
		}
		refused.Wait()
		close(goOn)
		must(t, <-first)
		all.Wait()
		var again []time.Duration
		for i, err := range errs {
			_, unknown := s.Ticket(t.Context(), project, fmt.Sprint("t", i))
			f, isRefused := errors.AsType[*problem.Error](err)
			switch {
			case err == nil:
				must(t, unknown)
			case !isRefused || f.Code != problem.ProjectLimited || f.Limit.Name != "creates":
				t.Errorf("ticket %d: %v", i, err)
			default:
				kindOf(t, unknown, problem.NotFound)
				again = append(again, f.RetryAfter)
			}
		}
		slices.Sort(again)
		if len(again) != come-queued || len(slices.Compact(slices.Clone(again))) != len(again) || again[0] < time.Second/2 {
			t.Errorf("%d of %d may come again, after %v", len(again), come, again)
		}
		must(t, creator.Create(t.Context(), project, ticket("last", 0)))
	})
}

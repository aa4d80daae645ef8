package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// runs watches over the parts' Runs.
type runs struct {
	stop   func()        // called when the first part fails
	broken chan struct{} // closed when the first part fails
	ended  chan struct{} // closed when all have returned

	mu     sync.Mutex
	names  []string // of those that have not returned
	reason error    // the first failure
}

func newRuns(stop func()) *runs {
	return &runs{stop: stop, broken: make(chan struct{}), ended: make(chan struct{})}
}

func (r *runs) start(ctx context.Context, parts []Part) {
	var all sync.WaitGroup
	for _, p := range parts {
		if p.Run == nil {
			continue
		}
		r.names = append(r.names, p.Name)
	}
	for _, p := range parts {
		if p.Run == nil {
			continue
		}
		all.Go(func() {
			err := p.Run(ctx)
			stopped := ctx.Err() != nil && errors.Is(err, context.Canceled)
			if err != nil && !stopped {
				r.failed(p.Name, err)
			}
			r.returned(p.Name)
		})
	}
	go func() {
		all.Wait()
		close(r.ended)
	}()
}

// failed keeps the first failure; the ones that follow are its echoes.
func (r *runs) failed(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason != nil {
		return
	}
	r.reason = fmt.Errorf("%s: %w", name, err)
	close(r.broken)
	r.stop()
}

func (r *runs) returned(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := slices.Index(r.names, name)
	r.names = slices.Delete(r.names, n, n+1)
}

func (r *runs) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reason
}

// wait returns when all have returned or time is up: the first failure, or who is late.
func (r *runs) wait(within time.Duration) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-r.ended:
		return r.err()
	case <-timer.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.reason, fmt.Errorf("did not stop in time: %s", strings.Join(r.names, ", ")))
}

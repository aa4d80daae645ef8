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

// runGroup runs the parts' Run functions.
type runGroup struct {
	stop        func()        // called when the first part fails
	firstFailed chan struct{} // closed when the first part fails
	allReturned chan struct{} // closed when all have returned

	mu     sync.Mutex
	names  []string // of those that have not returned
	reason error    // the first failure
}

func newRunGroup(stop func()) *runGroup {
	return &runGroup{stop: stop, firstFailed: make(chan struct{}), allReturned: make(chan struct{})}
}

func (r *runGroup) start(ctx context.Context, parts []Part) {
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
				r.fail(p.Name, err)
			}
			r.remove(p.Name)
		})
	}
	go func() {
		all.Wait()
		close(r.allReturned)
	}()
}

// fail keeps the first failure; later ones are its consequences.
func (r *runGroup) fail(name string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason != nil {
		return
	}
	r.reason = fmt.Errorf("%s: %w", name, err)
	close(r.firstFailed)
	r.stop()
}

func (r *runGroup) remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := slices.Index(r.names, name)
	r.names = slices.Delete(r.names, n, n+1)
}

func (r *runGroup) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reason
}

// wait returns when all have returned or time is up. The error is the first failure, and names parts that did not
// return.
func (r *runGroup) wait(within time.Duration) error {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-r.allReturned:
		return r.err()
	case <-timer.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.reason, fmt.Errorf("did not stop in time: %s", strings.Join(r.names, ", ")))
}

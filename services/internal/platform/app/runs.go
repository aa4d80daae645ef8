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
	allReturned chan struct{} // closed when all have returned

	mu    sync.Mutex
	names []string // of those that have not returned
}

// start starts them. The first failure is the one that counts: later ones are its consequences.
func (r *runGroup) start(ctx context.Context, parts []Part, fail context.CancelCauseFunc) {
	var all sync.WaitGroup
	for _, p := range parts {
		if p.Run == nil {
			continue
		}
		r.mu.Lock()
		r.names = append(r.names, p.Name)
		r.mu.Unlock()
		all.Go(func() {
			err := p.Run(ctx)
			stopped := ctx.Err() != nil && errors.Is(err, context.Canceled)
			if err != nil && !stopped {
				fail(fmt.Errorf("%s: %w", p.Name, err))
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			n := slices.Index(r.names, p.Name)
			r.names = slices.Delete(r.names, n, n+1)
		})
	}
	go func() {
		all.Wait()
		close(r.allReturned)
	}()
}

// wait returns when all have returned or time is up. The error names parts that did not return.
func (r *runGroup) wait(within time.Duration) error {
	select {
	case <-r.allReturned:
		return nil
	case <-time.After(within):
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Errorf("did not stop in time: %s", strings.Join(r.names, ", "))
}

package agones

import (
	"context"
	"fmt"
	"sync"
)

// turns lets those who ask for the same allocation do so one after the other.
type turns struct {
	mu      sync.Mutex
	waiting map[string]*turn
}

type turn struct {
	free  chan struct{} // holds a value when it is nobody's turn
	users int
}

// take waits for its turn, and returns what ends it.
func (t *turns) take(ctx context.Context, id string) (done func(), err error) {
	t.mu.Lock()
	one := t.waiting[id]
	if one == nil {
		one = &turn{free: make(chan struct{}, 1)}
		one.free <- struct{}{}
		t.waiting[id] = one
	}
	one.users++
	t.mu.Unlock()

	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(t.waiting, id)
		}
	}
	select {
	case <-one.free:
		return func() { one.free <- struct{}{}; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, fmt.Errorf("wait for another call for the same match: %w", context.Cause(ctx))
	}
}

// Package keylock lets those who ask a hosting system for the same match do so one after the other.
package keylock

import (
	"context"
	"fmt"
	"sync"
)

// Turns are whose turn it is, by what it is about. The zero value is ready.
type Turns struct {
	mu  sync.Mutex
	all map[string]*turn
}

type turn struct {
	free  chan struct{} // holds a value when it is nobody's turn
	users int
}

// Take waits for a turn, and returns what ends it.
func (t *Turns) Take(ctx context.Context, id string) (done func(), err error) {
	one := t.join(id)
	select {
	case <-one.free:
		return func() { one.free <- struct{}{}; t.leave(id) }, nil
	case <-ctx.Done():
		t.leave(id)
		return nil, fmt.Errorf("wait for another call for the same match: %w", context.Cause(ctx))
	}
}

func (t *Turns) join(id string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[id]
	if one == nil {
		if t.all == nil {
			t.all = map[string]*turn{}
		}
		one = &turn{free: make(chan struct{}, 1)}
		one.free <- struct{}{}
		t.all[id] = one
	}
	one.users++
	return one
}

func (t *Turns) leave(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.all[id]; one.users == 1 {
		delete(t.all, id)
	} else {
		one.users--
	}
}

// Package keylock is a mutex per key.
package keylock

import (
	"context"
	"fmt"
	"sync"
)

// Locks has a lock for each key. The zero value is ready.
type Locks struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the lock is free
}

// Lock waits for the lock of a key. Call unlock once. An error means that ctx ended first.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		unlock, busy := l.TryLock(key)
		if busy == nil {
			return unlock, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another call for %s: %w", key, context.Cause(ctx))
		}
	}
}

// TryLock takes the lock of a key if it is free: busy is nil then, and otherwise closed when another try may succeed.
func (l *Locks) TryLock(key string) (unlock func(), busy <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.held[key]; other != nil {
		return nil, other
	}
	if l.held == nil {
		l.held = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	l.held[key] = mine
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.held, key)
		close(mine)
	}, nil
}

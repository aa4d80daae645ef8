// Package keylock is a mutex per key. It serializes the calls of a hosting system that concern the same match.
package keylock

import (
	"context"
	"fmt"
	"sync"
)

// Locks has a lock for each key. The zero value is ready.
type Locks struct {
	mu    sync.Mutex
	locks map[string]*lock
}

type lock struct {
	free  chan struct{} // holds a value while the lock is free
	users int           // goroutines that hold it or wait for it
}

// Lock waits for the lock of a key. Call unlock once. An error means that ctx ended first.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	one := l.join(key)
	select {
	case <-one.free:
		return func() { one.free <- struct{}{}; l.leave(key) }, nil
	case <-ctx.Done():
		l.leave(key)
		return nil, fmt.Errorf("wait for another call for the same match: %w", context.Cause(ctx))
	}
}

func (l *Locks) join(key string) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.locks[key]
	if one == nil {
		if l.locks == nil {
			l.locks = map[string]*lock{}
		}
		one = &lock{free: make(chan struct{}, 1)}
		one.free <- struct{}{}
		l.locks[key] = one
	}
	one.users++
	return one
}

func (l *Locks) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.locks[key]; one.users == 1 {
		delete(l.locks, key)
	} else {
		one.users--
	}
}

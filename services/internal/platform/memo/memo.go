// Package memo keeps what was read for a while, so that all callers share it.
package memo

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// most bounds the keys of which something is kept.
const most = 256

// Memo has what was read last, by key. Its zero value is empty. It is safe for concurrent use.
type Memo[K comparable, V any] struct {
	mu  sync.Mutex
	all map[K]*entry[V]
}

type entry[V any] struct {
	callers atomic.Int64 // that have it: those that come have the Memo's mu
	mu      sync.Mutex
	until   time.Time
	value   V
}

// Get returns what is kept of a key, or reads it. read returns the value and until when to keep it. A failure is not
// kept. Callers wait for a read even when their own contexts end.
func (m *Memo[K, V]) Get(key K, now func() time.Time, read func() (V, time.Time, error)) (V, error) {
	one := m.of(key, now())
	defer one.callers.Add(-1)
	one.mu.Lock()
	defer one.mu.Unlock()
	if now().Before(one.until) {
		return one.value, nil
	}
	value, until, err := read()
	if err == nil {
		one.value, one.until = value, until
	}
	return value, err
}

// of returns the entry of a key. A new one takes the place of those that are over, or of all if that is too few.
func (m *Memo[K, V]) of(key K, now time.Time) *entry[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.all[key]
	if one == nil {
		maps.DeleteFunc(m.all, func(_ K, old *entry[V]) bool { return old.callers.Load() == 0 && !now.Before(old.until) })
		if m.all == nil || len(m.all) >= most {
			m.all = map[K]*entry[V]{}
		}
		one = new(entry[V])
		m.all[key] = one
	}
	one.callers.Add(1)
	return one
}

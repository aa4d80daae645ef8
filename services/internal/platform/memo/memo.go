// Package memo keeps what was read for a while, so that all callers share it.
package memo

import (
	"maps"
	"sync"
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
	mu    sync.Mutex
	until time.Time
	value V
}

// Get returns what is kept of a key, or reads it. read says until when it is kept, unless it fails. Meanwhile other
// callers wait for the same key.
func (m *Memo[K, V]) Get(key K, now func() time.Time, read func() (V, time.Time, error)) (V, error) {
	one := m.of(key, now())
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
	if one := m.all[key]; one != nil {
		return one
	}
	maps.DeleteFunc(m.all, func(_ K, old *entry[V]) bool {
		if !old.mu.TryLock() { // it is being read
			return false
		}
		defer old.mu.Unlock()
		return !now.Before(old.until)
	})
	if m.all == nil || len(m.all) >= most {
		m.all = map[K]*entry[V]{}
	}
	m.all[key] = new(entry[V])
	return m.all[key]
}

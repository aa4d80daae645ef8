package ratelimit

import (
	"hash/maphash"
	"sync"
	"time"

	"matchmaker.dev/services/internal/state"
)

// Local limits how often each of many callers does something, as this process sees it: replicas count each for
// itself. It is for requests that only cost what counting them elsewhere would cost again.
//
// Those who asked within the time in which a bucket fills take 16 bytes each, and no others take any.
type Local struct {
	name string
	rate state.Rate
	now  func() time.Time
	seed maphash.Seed

	// interval is the time in which a bucket gains one, capacity that in which an empty one fills.
	interval, capacity time.Duration

	mu sync.Mutex
	// young and old say when buckets are full again, by a hash of whose they are. One that is in neither is full:
	// what nobody touched while old was young has filled since.
	young, old map[uint64]time.Duration
	turned     time.Duration
	began      time.Time
}

// NewLocal makes the buckets of a name.
func NewLocal(name string, rate state.Rate, now func() time.Time) *Local {
	l := &Local{name: name, rate: rate, now: now, seed: maphash.MakeSeed(), young: map[uint64]time.Duration{}, began: now()}
	if rate.PerSecond > 0 {
		l.interval = max(1, time.Duration(float64(time.Second)/rate.PerSecond))
		l.capacity = l.interval * time.Duration(rate.Burst)
	}
	return l
}

// Allow takes one out of the bucket of somebody in a project; fault.Limited when it is empty.
func (l *Local) Allow(project, whose string) error {
	if l.interval == 0 {
		return nil
	}
	var h maphash.Hash
	h.SetSeed(l.seed)
	_, _ = h.WriteString(project) // never fails
	_ = h.WriteByte(0)
	_, _ = h.WriteString(whose)
	if after := l.take(h.Sum64()); after > 0 {
		return l.rate.LimitError(l.name, after, "too many requests of this kind: %v a second are allowed", l.rate.PerSecond)
	}
	return nil
}

// take returns 0, or how long it is until there is one to take.
func (l *Local) take(bucket uint64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now().Sub(l.began)
	if now-l.turned >= l.capacity {
		l.young, l.old, l.turned = map[uint64]time.Duration{}, l.young, now
	}
	full, known := l.young[bucket]
	if !known {
		full = l.old[bucket]
	}
	full = max(full, now) + l.interval
	if late := full - now - l.capacity; late > 0 {
		return late
	}
	l.young[bucket] = full
	return 0
}

package ratelimit

import (
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// Local limits how often each of many callers does something, in this process: replicas count each for itself. It is
// for requests that cost no more than counting them in Redis would.
//
// Only callers that asked within the last one or two times that a bucket takes to fill use memory, about 120 bytes
// each.
type Local struct {
	name string
	rate state.Rate
	now  func() time.Time
	seed maphash.Seed
	// fill is the time in which an empty bucket fills.
	fill time.Duration

	mu sync.Mutex
	// young and old are the buckets by a hash of their caller. A bucket that is in neither is full: it was not used
	// since the maps last changed places, at least fill ago.
	young, old map[uint64]*rate.Limiter
	changed    time.Time
}

// NewLocal makes the buckets of a limit.
func NewLocal(name string, r state.Rate, now func() time.Time) *Local {
	l := &Local{name: name, rate: r, now: now, seed: maphash.MakeSeed(), young: map[uint64]*rate.Limiter{}, changed: now()}
	if r.PerSecond > 0 {
		l.fill = time.Duration(float64(r.Burst) / r.PerSecond * float64(time.Second))
	}
	return l
}

// Allow takes one request out of the bucket of a caller in a project. The error is a problem.Limited when it is empty.
func (l *Local) Allow(project, caller string) error {
	after := l.take(project, caller, 1)
	if after == 0 {
		return nil
	}
	return l.rate.LimitError(problem.PlayerLimited, l.name, after, "too many requests of this kind: %v a second are "+
		"allowed", l.rate.PerSecond)
}

// AllowWithin is Allow for a request that counts in all, the buckets of projects, as well. One without a caller counts
// there alone. A request that its caller's bucket refuses takes nothing from the project. While the bucket of a project
// is empty, no caller gets a bucket: callers may invent their names.
func (l *Local) AllowWithin(all *Local, project, caller string) error {
	err := all.projectError(all.lacks(project, "", 1))
	if err == nil && caller != "" {
		err = l.Allow(project, caller)
	}
	if err != nil {
		return err
	}
	return all.projectError(all.take(project, "", 1))
}

// projectError returns the error of a project's bucket that is empty for a time, nil when that is 0.
func (l *Local) projectError(after time.Duration) error {
	if after == 0 {
		return nil
	}
	return l.rate.LimitError(problem.ProjectLimited, l.name, state.Spread(after), "too many requests of this kind in "+
		"this project: each process takes %v a second", l.rate.PerSecond)
}

// take takes n out of the bucket of a caller in a project, or what a full bucket holds when that is less. When the
// bucket does not have them it takes nothing, and returns how long it takes until it has.
func (l *Local) take(project, caller string, n int) (after time.Duration) {
	if l.rate.PerSecond == 0 {
		return 0
	}
	now, n := l.now(), min(n, l.rate.Burst)
	bucket := l.bucket(now, maphash.Comparable(l.seed, [2]string{project, caller}))
	if bucket.AllowN(now, n) {
		return 0
	}
	return max(time.Microsecond, l.lacking(bucket, now, n))
}

// lacks returns how long it takes until the bucket of a caller in a project has n, or is full, 0 if it has them.
func (l *Local) lacks(project, caller string, n int) (after time.Duration) {
	if l.rate.PerSecond == 0 {
		return 0
	}
	now := l.now()
	bucket := l.bucket(now, maphash.Comparable(l.seed, [2]string{project, caller}))
	return max(0, l.lacking(bucket, now, min(n, l.rate.Burst)))
}

func (l *Local) lacking(bucket *rate.Limiter, now time.Time, n int) time.Duration {
	missing := (float64(n) - bucket.TokensAt(now)) / l.rate.PerSecond
	return time.Duration(missing * float64(time.Second)).Round(time.Microsecond)
}

// Reserve takes n out of the bucket of a caller in a project, and returns how long to wait before the work is done that
// they stand for. n is bounded by the burst.
func (l *Local) Reserve(project, caller string, n int) time.Duration {
	if l.rate.PerSecond == 0 {
		return 0
	}
	now := l.now()
	bucket := l.bucket(now, maphash.Comparable(l.seed, [2]string{project, caller}))
	return bucket.ReserveN(now, min(n, l.rate.Burst)).DelayFrom(now)
}

func (l *Local) bucket(now time.Time, caller uint64) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.changed) >= l.fill {
		l.young, l.old, l.changed = map[uint64]*rate.Limiter{}, l.young, now
	}
	bucket := l.young[caller]
	if bucket == nil {
		if bucket = l.old[caller]; bucket == nil {
			bucket = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		}
		l.young[caller] = bucket
	}
	return bucket
}

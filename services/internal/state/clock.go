package state

import (
	"context"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
)

// How often a process measures Redis's clock, how soon it retries, how long a measurement may take, and from which
// difference on a clock is off.
const (
	measureEvery   = 5 * time.Second
	measureAgain   = 500 * time.Millisecond
	measureTimeout = 2 * time.Second
	clockTolerance = time.Second
)

// drift is how fast two clocks part at most, as a fraction of the time.
const drift = 1e-4

// clock is Redis's clock as this process knows it: the last good measurement, and what has passed since by the
// process's own monotonic clock. So a host's clock may be wrong and may be set while the process runs.
type clock struct {
	host  func() time.Time
	known atomic.Pointer[measurement]
}

// measurement says between which times Redis's clock was when the host's clock showed a time.
type measurement struct{ low, high, host time.Time }

// at says between which times Redis's clock is when the host's shows a time.
func (m *measurement) at(host time.Time) (low, high time.Time) {
	passed := host.Sub(m.host)
	slack := time.Duration(float64(passed) * drift)
	return m.low.Add(passed - slack), m.high.Add(passed + slack)
}

// ahead is how far the host's clock is ahead of Redis's, and how wrong that may be. It is the clock that a host shows:
// its monotonic clock does not tell when that is set.
func (m *measurement) ahead() (ahead, unsure time.Duration) {
	half := m.high.Sub(m.low) / 2
	return m.host.Round(0).Sub(m.low.Add(half)), half
}

// now is Redis's clock, never a later time than that, or the host's clock until Redis's was measured.
func (c *clock) now() time.Time {
	host := c.host()
	if m := c.known.Load(); m != nil {
		low, _ := m.at(host)
		return low
	}
	return host
}

// learn adds a measurement. When it contradicts the earlier ones, Redis's clock jumped, and the new one counts.
func (c *clock) learn(next *measurement) (jump time.Duration) {
	if last := c.known.Load(); last != nil {
		switch low, high := last.at(next.host); {
		case next.low.After(high):
			jump = next.low.Sub(high)
		case next.high.Before(low):
			jump = next.high.Sub(low)
		default:
			if low.After(next.low) {
				next.low = low
			}
			if high.Before(next.high) {
				next.high = high
			}
		}
	}
	c.known.Store(next)
	return jump
}

// Now is Redis's clock as this process knows it: for tokens, signatures and displayed times. Scripts make all decisions
// about time, and read Redis's clock themselves.
func (s *Store) Now() time.Time {
	if s.clock != nil && s.measured.known.Load() == nil {
		return s.clock()
	}
	return s.measured.now()
}

// ClockAhead is how far the host's clock is ahead of Redis's, negative when it is behind. It is false until that was
// measured.
func (s *Store) ClockAhead() (ahead time.Duration, known bool) {
	m := s.measured.known.Load()
	if m == nil {
		return 0, false
	}
	ahead, _ = m.ahead()
	return ahead, true
}

// ClockKnown reports whether Redis's clock was measured.
func (s *Store) ClockKnown() bool { return s.measured.known.Load() != nil }

// clockOff is how far the host's clock is ahead of Redis's if that is certainly too much, else 0.
func (s *Store) clockOff() time.Duration {
	m := s.measured.known.Load()
	if m == nil {
		return 0
	}
	ahead, unsure := m.ahead()
	if ahead.Abs() <= clockTolerance+unsure {
		return 0
	}
	return ahead
}

// ClockOff describes how wrong the host's clock is; "" while it is right.
func (s *Store) ClockOff() string {
	switch off := s.clockOff().Round(100 * time.Millisecond); {
	case off > 0:
		return "the clock of this host is " + off.String() + " ahead of Redis's"
	case off < 0:
		return "the clock of this host is " + (-off).String() + " behind Redis's"
	}
	return ""
}

// KeepTime measures Redis's clock until ctx ends, and logs when the host's clock is off.
func (s *Store) KeepTime(ctx context.Context) error {
	for said := time.Duration(0); ctx.Err() == nil; {
		pause := measureEvery
		if s.measure(ctx) != nil {
			pause = measureAgain
		}
		switch off := s.clockOff(); {
		case off != 0 && (off-said).Abs() > clockTolerance:
			s.log.WarnContext(ctx, "the clock of this host is off: times in its log are wrong, and it may refuse certificates",
				"ahead", off.Round(time.Millisecond))
			said = off
		case off == 0 && said != 0:
			s.log.InfoContext(ctx, "the clock of this host is right again")
			said = 0
		}
		_ = wait.For(ctx, pause)
	}
	return nil
}

// measure asks Redis for its time once.
func (s *Store) measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	before := s.measured.host()
	redis, err := s.redisTime(ctx)
	if err != nil {
		return unavailable(err)
	}
	after := s.measured.host()
	// Redis read its clock before the answer came, at the earliest when it was asked.
	jump := s.measured.learn(&measurement{low: redis, high: redis.Add(after.Sub(before)), host: after})
	if jump.Abs() > clockTolerance {
		s.log.WarnContext(ctx, "Redis's clock has jumped, or a server with another clock has taken over",
			"by", jump.Round(time.Millisecond))
	}
	return nil
}

// redisTime always asks the same server of a cluster.
func (s *Store) redisTime(ctx context.Context) (time.Time, error) {
	if s.clock != nil {
		return s.clock(), nil
	}
	node, _, err := nodeOf(ctx, s.redis, global.projects())
	if err != nil {
		return time.Time{}, err
	}
	return node.Time(ctx).Result()
}

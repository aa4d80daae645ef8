package gate

import "time"

// length is a class of runs by how long they take.
type length int

const (
	brief   length = iota // what two players and a simple function take, many times over
	medium                // tens of milliseconds; also a config that is not known yet
	long                  // tenths of a second
	endless               // seconds, as functions that hang
)

// ends are where the lengths end, except for the last.
var ends = [...]time.Duration{brief: 10 * time.Millisecond, medium: 100 * time.Millisecond, long: time.Second}

// lengthOf is the length of a run that takes d.
func lengthOf(d time.Duration) length {
	for l, end := range ends {
		if d < end {
			return length(l)
		}
	}
	return endless
}

// end is where the length ends; 0 when it does not.
func (l length) end() time.Duration {
	if int(l) < len(ends) {
		return ends[l]
	}
	return 0
}

// estimate is how long a run of a config takes, from its last ones. The longest counts: it takes one shorter run to
// forget each factor of two by which it was longer.
type estimate struct {
	known bool
	took  time.Duration
}

func (e *estimate) learn(took time.Duration) { e.known, e.took = true, max(took, e.took/2) }

// length is the length to expect. A new config does not count as short.
func (e *estimate) length() length {
	if !e.known {
		return medium
	}
	return lengthOf(e.took)
}

// lastRun is when a run of a length came or ended last, and of which config.
type lastRun[T any] struct {
	at time.Time
	by *config[T]
}

// concerns reports whether a longer run of c leaves room for such runs. It does so for runs of other configs: one whose
// run was long for once does not make room for itself.
func (s *lastRun[T]) concerns(c *config[T], now time.Time) bool {
	return s.by != nil && s.by != c && now.Sub(s.at) < recent
}

package runner

import "time"

// What an instance that failed is replaced after: the first pause, doubled with each
// failure until one answers a run, up to the longest; and when it is certain to fail again. The longest is
// not long, since whoever mends a config wants to see it work.
const (
	firstPause   = 100 * time.Millisecond
	longPause    = 5 * time.Second
	certainPause = 30 * time.Second
)

// backoff is how long to wait after failures in a row. The zero value is ready.
type backoff struct{ pause time.Duration }

// next is the pause after one more failure. A failure that repeats itself for
// sure, because the module is to blame, gets one of its own.
func (b *backoff) next(certain bool) time.Duration {
	switch {
	case certain:
		return certainPause
	case b.pause == 0:
		b.pause = firstPause
	default:
		b.pause = min(2*b.pause, longPause)
	}
	return b.pause
}

// reset forgets the failures so far.
func (b *backoff) reset() { b.pause = 0 }

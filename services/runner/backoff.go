package runner

import "time"

// What an instance that failed is replaced after: the first pause, doubled with each
// failure up to the longest, and how long an instance must have lived, and
// answered, for its failure to count as the first again.
const (
	firstPause  = 100 * time.Millisecond
	longPause   = 30 * time.Second
	healthyLife = 10 * time.Second
)

// backoff is how long to wait after failures in a row. The zero value is ready.
type backoff struct{ pause time.Duration }

// next is the pause after one more failure. A failure that repeats itself for
// sure, because the module is to blame, gets the longest at once.
func (b *backoff) next(certain bool) time.Duration {
	switch {
	case certain:
		b.pause = longPause
	case b.pause == 0:
		b.pause = firstPause
	default:
		b.pause = min(2*b.pause, longPause)
	}
	return b.pause
}

// reset forgets the failures so far.
func (b *backoff) reset() { b.pause = 0 }

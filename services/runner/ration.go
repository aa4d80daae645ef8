package runner

import (
	"sync"
	"time"
)

// What a function may print on one runner: so much a second in the long run, and so much
// at once. A flood costs its own author lines, not the others the disk of the log.
const (
	printRate  = 256 << 10
	printBurst = 1 << 20
)

// ration gives out what a function may print. It is safe for concurrent use.
type ration struct {
	now func() time.Time

	mu   sync.Mutex
	left float64   // bytes
	at   time.Time // as of then
}

func newRation(now func() time.Time) *ration {
	return &ration{now: now, left: printBurst, at: now()}
}

// take tells whether so many bytes may be printed, and then they are.
func (r *ration) take(bytes int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.left = min(printBurst, r.left+max(0, now.Sub(r.at).Seconds())*printRate)
	r.at = now
	if r.left < float64(bytes) {
		return false
	}
	r.left -= float64(bytes)
	return true
}

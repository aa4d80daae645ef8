package beacon

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/internal/edge/receipt"
)

// slots is how many networks are counted apart. Which ones share a count is a secret of the process.
const slots = 1 << 16

// limiter limits questions by the network that they come from. It has half a megabyte, whatever comes.
type limiter struct {
	seed maphash.Seed
	// due is for each slot when its questions are used up, at one question each interval.
	due             [slots]atomic.Int64
	interval, ahead time.Duration
}

func newLimiter(rate float64, burst int) *limiter {
	interval := time.Duration(float64(time.Second) / rate)
	return &limiter{seed: maphash.MakeSeed(), interval: interval, ahead: interval * time.Duration(burst)}
}

// allow reports whether a question that comes from an address now is answered.
func (l *limiter) allow(from netip.Addr, now time.Duration) bool {
	var network [8]byte
	due := &l.due[maphash.Bytes(l.seed, receipt.AppendNetwork(network[:0], from))%slots]
	for {
		before := due.Load()
		next := max(before, int64(now)) + int64(l.interval)
		if next > int64(now+l.ahead) {
			return false
		}
		if due.CompareAndSwap(before, next) {
			return true
		}
	}
}

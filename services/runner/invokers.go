package runner

import (
	"sync"

	"matchmaker.dev/services/internal/match/invocation"
)

// maxInvokers is how many invokers without a run are kept. Each has up to 32 MiB.
const maxInvokers = 8

// invokers keeps the invokers without a run. A run takes one only when it has a slot: so the memory for selections and
// answers grows with the runs under way, and not with the instances.
type invokers struct {
	mu   sync.Mutex
	free []*invocation.Invoker
}

func (p *invokers) take() *invocation.Invoker {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return new(invocation.Invoker)
	}
	inv := p.free[n-1]
	p.free = p.free[:n-1]
	return inv
}

// put takes an invoker back. The answer of its last run must have been sent.
func (p *invokers) put(inv *invocation.Invoker) {
	inv.Release()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < maxInvokers {
		p.free = append(p.free, inv)
	}
}

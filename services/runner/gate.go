package runner

import (
	"context"
	"sync"
)

// gate counts the runs under way, and lets no more in once it is closed. The zero value is open.
type gate struct {
	mu     sync.Mutex
	inside int
	shut   bool
	empty  chan struct{}
}

// enter is false when the gate is closed; else leave has to follow.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.shut && g.inside == 0 {
		close(g.empty)
	}
}

// close is called once; it waits until nobody is inside, or ctx ends.
func (g *gate) close(ctx context.Context) {
	g.mu.Lock()
	g.shut, g.empty = true, make(chan struct{})
	if g.inside == 0 {
		close(g.empty)
	}
	g.mu.Unlock()
	select {
	case <-g.empty:
	case <-ctx.Done():
	}
}

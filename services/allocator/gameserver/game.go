package gameserver

import (
	"math/rand/v2"
	"sync"
	"time"
)

// patience is how long a server waits for a player who is expected: who has not come by then has left.
const patience = 30 * time.Second

// game is who is on a server, and who is expected there.
type game struct {
	// stay is how long players stay, on average; for ever when 0.
	stay time.Duration
	// places is for how many players there is room.
	places int
	// changed is called, not under mu, when somebody left.
	changed func()

	mu      sync.Mutex
	players map[string]*player // by ticket
	here    int
	over    bool
}

type player struct {
	here bool
	// leaves ends the player's stay, or the wait for it; nil while there is no end in sight.
	leaves *time.Timer
}

// expect lets tickets in from now on.
func (g *game) expect(tickets []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, ticket := range tickets {
		if g.over || g.players[ticket] != nil {
			continue
		}
		p := &player{}
		g.players[ticket] = p
		if g.changed != nil {
			p.leaves = time.AfterFunc(patience, func() { g.leave(ticket) })
		}
	}
}

// hello is a player who says hello, once or again. It is false when nobody expects the ticket.
func (g *game) hello(ticket string) (players int, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.players[ticket]
	if p == nil {
		return 0, false
	}
	if !p.here {
		p.here = true
		g.here++
		if p.leaves != nil {
			p.leaves.Stop()
			p.leaves = nil
		}
		if g.stay > 0 {
			stay := time.Duration(rand.ExpFloat64() * float64(g.stay)) //nolint:gosec // a simulation
			p.leaves = time.AfterFunc(stay, func() { g.leave(ticket) })
		}
	}
	return g.here, true
}

// leave is a player who leaves, or does not come. It is false when there is none.
func (g *game) leave(ticket string) bool {
	g.mu.Lock()
	p := g.players[ticket]
	if p == nil || g.over {
		g.mu.Unlock()
		return false
	}
	delete(g.players, ticket)
	if p.here {
		g.here--
	}
	if p.leaves != nil {
		p.leaves.Stop()
	}
	g.mu.Unlock()
	if g.changed != nil {
		g.changed()
	}
	return true
}

// open is how many more players there is room for.
func (g *game) open() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(0, g.places-len(g.players))
}

// empty tells that nobody is there, or expected.
func (g *game) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.players) == 0
}

// end ends the game: nobody leaves any more.
func (g *game) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	for _, p := range g.players {
		if p.leaves != nil {
			p.leaves.Stop()
		}
	}
}

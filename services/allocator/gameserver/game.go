package gameserver

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"
)

// patience is how long a server waits for an expected player, before the player counts as gone.
const patience = 30 * time.Second

// game has the players of a server: present and expected ones.
type game struct {
	// stay is how long players stay on average; without end when 0.
	stay time.Duration
	// places is how many players fit.
	places int
	// changed is called without mu when a player left.
	changed func()

	mu      sync.Mutex
	players map[string]*player // by ticket
	here    int
	over    bool
}

type player struct {
	here bool
	// leaves ends the player's stay, or the wait for it; nil when neither ends.
	leaves *time.Timer
}

// expect accepts tickets from now on.
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

// hello takes a player's hello, the first or another. ok is false when the ticket is not expected.
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

// leave removes a player that leaves, or does not come. It is false when there is no such player.
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

// open is how many more players fit.
func (g *game) open() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return max(0, g.places-len(g.players))
}

// empty reports whether no player is there or expected.
func (g *game) empty() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.players) == 0
}

// end ends the game. After it no player leaves.
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

// hello is a player's datagram. Exactly one member is set.
type hello struct {
	Ticket string `json:"hello,omitempty"`
	Bye    string `json:"bye,omitempty"`
	Won    string `json:"won,omitempty"`
}

// Welcome is the answer to a player of the match.
type Welcome struct {
	Ticket string `json:"welcome"`
	Match  string `json:"match"`
	// Players counts the tickets that said hello and have not left.
	Players int `json:"players"`
	// Map is the member "map" of the match properties.
	Map json.RawMessage `json:"map,omitempty"`
}

// stranger is the answer to other players.
const stranger = `{"error":"stranger"}`

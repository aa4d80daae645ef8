package simulation

import (
	"math/rand/v2"
	"time"

	"matchmaker.dev/services/internal/population"
)

// fleet is the game servers. A match has its server when it was allocated, which takes a while. The server is free
// again when the game is over and it was started anew.
type fleet struct {
	*world
	random *rand.Rand
	used   int
	queue  []*match // those that were accepted while no server was free
}

// full tells whether no match may be claimed that needs a server.
func (f *fleet) full() bool {
	return f.Fleet.Servers > 0 && f.used+len(f.queue) >= f.Fleet.Servers
}

// allocate lets a match have a server.
func (f *fleet) allocate(m *match) {
	if f.Fleet.Servers > 0 && f.used >= f.Fleet.Servers {
		f.queue = append(f.queue, m)
		return
	}
	f.used++
	f.result.Servers = max(f.result.Servers, f.used)
	allocated := f.now.Add(seconds(f.Fleet.Allocation, f.random))
	ends := allocated.Add(seconds(f.Fleet.Game, f.random))
	f.agenda.plan(allocated, func() {
		f.assign(m)
		if m.game != nil {
			m.game.begin(m.tickets, ends)
		}
	})
	f.agenda.plan(ends.Add(seconds(f.Fleet.Restart, f.random)), f.free)
}

// free takes a server back.
func (f *fleet) free() {
	f.used--
	if len(f.queue) > 0 {
		next := f.queue[0]
		f.queue = f.queue[1:]
		f.allocate(next)
		return
	}
	for _, c := range f.configs {
		for _, s := range c.segments {
			s.EndPause()
		}
	}
	f.touch()
}

// seconds draws a time.
func seconds(d population.Distribution, r *rand.Rand) time.Duration {
	return population.Seconds(d.Draw(r)).Truncate(time.Millisecond)
}

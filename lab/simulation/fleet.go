package simulation

import (
	"math/rand/v2"
	"time"

	"matchmaker.dev/services/internal/match/cycle"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/lab/population"
)

// fleet is the game servers of one fleet. A match has its server when it was allocated, which takes a while. The server
// is free again when the game is over and it was started anew.
type fleet struct {
	*world
	Fleet  // hides the world's
	random *rand.Rand
	used   int
	queue  []*match // matches that were accepted while no server was free
	counts FleetUse
}

// FleetUse is how the servers of a fleet were used.
type FleetUse struct {
	// Name is the fleet's name in the scenario; empty for the default fleet.
	Name string
	// Servers is how many were in use at most. Full is how many matches waited since there was none, and Refused how many
	// allocations failed.
	Servers, Full, Refused int
}

// newFleet returns the fleet with a name, all of whose servers are free.
func (w *world) newFleet(name string, of Fleet) *fleet {
	stream := "fleet"
	if name != "" {
		stream += " " + name
	}
	return &fleet{world: w, Fleet: of, random: population.Stream(w.seed, stream), counts: FleetUse{Name: name}}
}

// fleetOf is where a match gets its server: its function may have chosen another fleet than the config's, or a region.
func (w *world) fleetOf(c *cycle.Candidate) *fleet {
	name := c.Origin.Config.GetHosting().GetFleet()
	if chosen := c.GetHosting().GetFleet(); chosen != "" {
		name = chosen
	}
	if region := c.GetHosting().GetRegion(); region != "" {
		if one := w.fleets[name+"/"+region]; one != nil {
			return one
		}
	}
	if one := w.fleets[name]; one != nil {
		return one
	}
	return w.others
}

// full reports whether no match may be claimed that needs a server.
func (f *fleet) full() bool {
	return f.Servers > 0 && f.used+len(f.queue) >= f.Servers
}

// allocate lets a match have a server.
func (f *fleet) allocate(m *match) {
	if f.Servers > 0 && f.used >= f.Servers {
		f.queue = append(f.queue, m)
		return
	}
	f.used++
	f.inUse++
	f.counts.Servers, f.result.Servers = max(f.counts.Servers, f.used), max(f.result.Servers, f.inUse)
	allocated := f.Now.Add(seconds(f.Allocation, f.random))
	if f.Errors > 0 && f.random.Float64() < f.Errors {
		f.Agenda.Plan(allocated, func() {
			f.fail(m)
			f.free()
		})
		return
	}
	ends := allocated.Add(seconds(f.Game, f.random))
	f.Agenda.Plan(allocated, func() {
		f.assign(m)
		if m.game == nil {
			m.game = f.openOwn(m)
		}
		if m.game != nil {
			m.game.begin(m, ends)
		}
	})
	f.Agenda.Plan(ends.Add(seconds(f.Restart, f.random)), f.free)
}

// fail ends a match that gets no server.
func (f *fleet) fail(m *match) {
	f.counts.Refused++
	f.result.Refused++
	if m.game != nil {
		m.game.end()
	}
	for _, t := range m.tickets {
		if m.Origin.Config.GetHosting().GetOnAllocationError() == definition.Requeue {
			f.wait(t)
		} else {
			f.end(t, Failed)
		}
	}
	f.Touch()
}

// free takes a server back.
func (f *fleet) free() {
	f.used--
	f.inUse--
	if len(f.queue) > 0 {
		next := f.queue[0]
		f.queue = f.queue[1:]
		f.allocate(next)
		return
	}
	for s := range f.Segments {
		s.EndPause()
	}
	f.Touch()
}

// seconds draws a time.
func seconds(d population.Distribution, r *rand.Rand) time.Duration {
	return population.Seconds(d.Draw(r)).Truncate(time.Millisecond)
}

package simulate

import (
	"context"
	"fmt"
	"sync"
	"time"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

// fleet is a hosting system. It looks for the server of a match only where it is told that there may be one: a match
// that is asked for twice as if for the first time gets two.
type fleet struct {
	gate    *gate
	journal *history.Journal

	// began is told of new servers: of the match, how many teams it has, and when the server is ready.
	began func(project, match string, teams int, ready time.Duration)
	// play begins the game of a match that was created with a backfill ticket.
	play func(project, backfill, connection string)

	mu      sync.Mutex
	started int
	servers map[string][]*host // by allocation
	// returned are the allocations that were given back. A call for one of them was sent before, and arrives late.
	returned map[string]bool
	tickets  map[string][]string
}

// host is a game server.
type host struct {
	connection string
	ready      time.Time
}

func newFleet(g *gate, journal *history.Journal) *fleet {
	return &fleet{
		gate: g, journal: journal, servers: map[string][]*host{}, returned: map[string]bool{},
		tickets: map[string][]string{},
	}
}

// hosting is the fleet as a process sees it.
type hosting struct {
	*fleet
	process *process
}

// Allocate starts a server, unless the match has one.
func (h hosting) Allocate(ctx context.Context, r *provider.Request) (result provider.Result, err error) {
	order, again := *r, false
	label := "allocate " + r.Project + " " + r.Match
	failure := h.gate.call(ctx, h.process, label, append(calls, repeat), func() error {
		// A hosting system knows a call that comes late by its key.
		order.First = order.First && ctx.Err() == nil
		result, err = h.allocate(&order, again)
		order.First, again = false, true
		return nil
	})
	if failure != nil {
		return provider.Result{}, failure
	}
	return result, err
}

// allocate does what Allocate says. again is whether the same call has arrived before: its caller may see the second
// answer alone, so a system that gave the match a server cannot say that it has none.
func (f *fleet) allocate(r *provider.Request, again bool) (provider.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id := r.Allocation()
	f.tickets[id] = nil
	for _, team := range r.Teams {
		f.tickets[id] = append(f.tickets[id], team.Tickets...)
	}
	luck := f.gate.pick(100)
	if again && len(f.servers[id]) > 0 {
		luck = 100
	}
	switch {
	case f.returned[id] || luck == 0:
		f.note(history.Allocate, r.Ref, nil, false)
		return provider.Result{Status: provider.Failed, Err: provider.Fail(provider.Refused, "not this match")}, nil
	case luck < 4 || r.Hosting.Fleet == string(lane.Asked) && time.Now().Second()%8 == 0: // the other fleet has servers
		return provider.Result{}, provider.Fail(provider.FleetEmpty, "no server is free")
	case r.First || len(f.servers[id]) == 0:
		f.started++
		one := &host{connection: fmt.Sprintf("host-%d:7777", f.started), ready: time.Now()}
		if luck > 70 {
			one.ready = one.ready.Add(time.Duration(f.gate.pick(3000)) * time.Millisecond)
		}
		f.servers[id] = append(f.servers[id], one)
		f.note(history.Allocate, r.Ref, one, true)
		if len(f.servers[id]) > 1 {
			break
		}
		f.began(r.Project, r.Match, len(r.Teams), time.Until(one.ready))
		if r.Backfill != "" {
			f.play(r.Project, r.Backfill, one.connection)
		}
	default:
		f.note(history.Allocate, r.Ref, f.servers[id][0], false)
	}
	return f.status(id), nil
}

// status is the status of an allocation. The caller holds mu.
func (f *fleet) status(id string) provider.Result {
	all := f.servers[id]
	switch {
	case len(all) == 0:
		return provider.Result{Status: provider.Gone}
	case time.Now().Before(all[len(all)-1].ready):
		return provider.Result{Status: provider.Pending}
	}
	return provider.Result{Status: provider.Allocated, Connection: all[len(all)-1].connection}
}

// Poll says how allocations go on.
func (h hosting) Poll(ctx context.Context, refs []provider.Ref) (results []provider.Result, err error) {
	step := fmt.Sprintf("poll %s %s %d", refs[0].Project, refs[0].Match, len(refs))
	err = h.gate.call(ctx, h.process, step, calls, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, r := range refs {
			results = append(results, h.status(r.Allocation()))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// Release gives the servers of a match back, but for one that its tickets use.
func (h hosting) Release(ctx context.Context, r provider.Ref) error {
	return h.gate.call(ctx, h.process, "release "+r.Project+" "+r.Match, append(calls, repeat), func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		id := r.Allocation()
		var kept []*host
		for _, one := range h.servers[id] {
			if r.Used != "" && one.connection == r.Used {
				kept = append(kept, one)
				continue
			}
			h.note(history.Release, r, one, true)
		}
		if h.servers[id] = kept; len(kept) == 0 {
			delete(h.servers, id)
			h.returned[id] = true
		}
		return nil
	})
}

// note writes what was done to the journal. The caller holds mu.
func (f *fleet) note(op history.Op, r provider.Ref, h *host, fresh bool) {
	id := r.Allocation()
	n := history.Hosting{
		At: history.Now(), Op: op, Project: r.Project, Match: r.Match, Key: id, Fresh: fresh, Tickets: f.tickets[id],
		Fleet: r.Hosting.Fleet,
	}
	if h != nil {
		n.Connection = h.connection
	}
	f.journal.Hosting(n)
}

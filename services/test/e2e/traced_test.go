package e2e

import (
	"fmt"
	"slices"
	"testing"
)

// What requests are called.
const (
	posted = "POST /:project/matchmaking/api/v1/tickets"
	got    = "GET /:project/matchmaking/api/v1/tickets"
)

// traceTickets: from the request that created a ticket one can follow, span by span and from process to process, how it came to its
// result, and to the request that read it.
func traceTickets(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ada := p.ticket(t, "ada", attributes{"skill": 1200})
	bob := p.ticket(t, "bob", attributes{"skill": 1210})
	together(t, ada, bob)
	var missing string
	defer func() {
		if missing != "" {
			t.Errorf("a trace breaks off: %s", missing)
		}
	}()
	eventually(t, "the traces of both tickets are whole", func() bool {
		one, claimed, lost := p.s.traces.follow(ada)
		if missing = lost; lost != "" {
			return false
		}
		two, also, lost := p.s.traces.follow(bob)
		if missing = lost; lost != "" {
			return false
		}
		// They were matched together, and each has a trace of its own.
		if !slices.ContainsFunc(claimed, func(s *span) bool { return slices.Contains(also, s) }) || one == two {
			t.Fatalf("ada and bob have no claim in common, or were created in the same trace: %x and %x", one, two)
		}
		return true
	})
}

// follow goes the way of a ticket that was matched and read its result, and says where there is no way.
func (c *collector) follow(k *ticket) (post string, claims []*span, missing string) {
	w := &walk{c: c, of: k.player}
	w.start("its creation", c.find("web", posted, "matchmaker.ticket", k.id))
	create := w.here()
	// In the trace of the ticket itself: what became of it.
	matched := w.from(create).child("director", "ticket matched").here()
	// From there into the trace of the cycle that served it and others.
	claimed := w.link("director", "claim").here()
	cycle := w.parent("director", "cycle").here()
	w.links(create)
	w.child("director", "contest")
	w.from(cycle).child("director", "run").child("runner", "execute").links(create)
	execute := w.here()
	for _, stage := range []string{"select", "encode", "function", "decode"} {
		w.from(execute).child("runner", stage)
	}
	// To the allocator, through the work queue.
	w.from(claimed).child("director", "publish").child("allocator", "allocate").links(create)
	allocated := w.here()
	w.child("allocator", "hosting allocate")
	assigned := w.from(allocated).child("allocator", "assign").here()
	w.from(create).child("allocator", "ticket assigned").links(assigned)
	// And to who reads it.
	w.from(create).child("ticket", "ticket seen").links(assigned)
	w.start("the request that sees the result", c.find("web", got, "matchmaker.ticket", k.id))
	w.links(assigned)
	w.links(create)
	if w.missing != "" {
		return "", nil, w.missing
	}
	for _, step := range [][]*span{matched, claimed, cycle, execute, allocated, assigned} {
		if !slices.ContainsFunc(step, func(s *span) bool { return !s.failed }) {
			return "", nil, fmt.Sprintf("%s: %s failed", k.player, step[0].name)
		}
	}
	return create[0].id, claimed, ""
}

// walk is on its way through spans. It is at more than one where there are several of a kind.
type walk struct {
	c       *collector
	of      string
	at      []*span
	way     string
	missing string
}

// start begins somewhere.
func (w *walk) start(what string, at []*span) { w.step("to "+what, at) }

// here is where it is.
func (w *walk) here() []*span { return w.at }

// from goes back to where it was.
func (w *walk) from(at []*span) *walk {
	w.at = at
	if len(at) > 0 {
		w.way = at[0].name
	}
	return w
}

// step is where it comes to next. It notes the first that is not there.
func (w *walk) step(how string, at []*span) *walk {
	if len(at) == 0 && w.missing == "" {
		w.missing = fmt.Sprintf("%s: from %q there is no way %s", w.of, w.way, how)
	}
	return w.from(at)
}

// child goes to spans below.
func (w *walk) child(service, name string) *walk {
	var at []*span
	for _, s := range w.c.find(service, name, "", "") {
		if slices.ContainsFunc(w.at, func(above *span) bool { return s.parent == above.id }) {
			at = append(at, s)
		}
	}
	return w.step(fmt.Sprintf("down to %q of the %s", name, service), at)
}

// parent goes to spans above.
func (w *walk) parent(service, name string) *walk {
	var at []*span
	for _, s := range w.at {
		if above := w.c.get(s.parent); above != nil && above.service == service && above.name == name {
			at = append(at, above)
		}
	}
	return w.step(fmt.Sprintf("up to %q of the %s", name, service), at)
}

// link follows links.
func (w *walk) link(service, name string) *walk {
	var at []*span
	for _, s := range w.at {
		for _, id := range s.links {
			if to := w.c.get(id); to != nil && to.service == service && to.name == name {
				at = append(at, to)
			}
		}
	}
	return w.step(fmt.Sprintf("by a link to %q of the %s", name, service), at)
}

// links stays, but only where there is a link to one of these.
func (w *walk) links(to []*span) {
	w.step("on, which links back", slices.DeleteFunc(slices.Clone(w.at), func(s *span) bool {
		return !slices.ContainsFunc(to, func(other *span) bool { return slices.Contains(s.links, other.id) })
	}))
}

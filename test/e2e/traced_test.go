package e2e

import (
	"fmt"
	"slices"
	"testing"
)

// Names of the spans of requests.
const (
	createSpan = "POST /:project/matchmaking/api/v1/tickets"
	readSpan   = "GET /:project/matchmaking/api/v1/tickets"
)

// traceTickets: the spans of all processes show how a ticket got its result, from the request that created it to the
// request that read the result.
func traceTickets(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ada := p.ticket(t, "ada", attributes{"skill": 1200})
	bob := p.ticket(t, "bob", attributes{"skill": 1210})
	together(t, ada, bob)
	var missing string
	defer func() {
		if missing != "" {
			t.Errorf("a trace is incomplete: %s", missing)
		}
	}()
	eventually(t, "the traces of both tickets are complete", func() bool {
		one, claimed, lost := p.s.traces.follow(ada)
		if missing = lost; lost != "" {
			return false
		}
		two, also, lost := p.s.traces.follow(bob)
		if missing = lost; lost != "" {
			return false
		}
		// They were claimed together, and each has a trace of its own.
		if !slices.ContainsFunc(claimed, func(s *span) bool { return slices.Contains(also, s) }) || one == two {
			t.Fatalf("ada and bob have no claim in common, or were created in the same trace: %x and %x", one, two)
		}
		return true
	})
}

// follow follows the spans of a ticket that was matched and whose result was read. missing is the first step without
// spans.
func (c *collector) follow(k *ticket) (post string, claims []*span, missing string) {
	w := &walk{c: c, of: k.player}
	w.start("its creation", c.find("web", createSpan, "matchmaker.ticket", k.id))
	create := w.here()
	// The trace of the ticket itself.
	matched := w.from(create).child("director", "ticket matched").here()
	// The trace of the cycle that matched it.
	claimed := w.link("director", "claim").here()
	cycle := w.parent("director", "cycle").here()
	w.links(create)
	w.child("director", "contest")
	w.from(cycle).child("director", "run").child("runner", "execute").links(create)
	execute := w.here()
	for _, stage := range []string{"select", "encode", "function", "decode"} {
		w.from(execute).child("runner", stage)
	}
	// The allocator, through the work queue.
	w.from(claimed).child("director", "publish").child("allocator", "allocate").links(create)
	allocated := w.here()
	w.child("allocator", "hosting allocate")
	assigned := w.from(allocated).child("allocator", "assign").here()
	w.from(create).child("allocator", "ticket assigned").links(assigned)
	// The request that read the result.
	w.from(create).child("ticket", "ticket seen").links(assigned)
	w.start("the request that sees the result", c.find("web", readSpan, "matchmaker.ticket", k.id))
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

// walk goes from spans to related spans. It is at several spans when there are several of a kind.
type walk struct {
	c       *collector
	of      string
	at      []*span
	way     string
	missing string
}

// start goes to spans.
func (w *walk) start(what string, at []*span) { w.step("to "+what, at) }

// here lists the spans where the walk is.
func (w *walk) here() []*span { return w.at }

// from goes back to spans.
func (w *walk) from(at []*span) *walk {
	w.at = at
	if len(at) > 0 {
		w.way = at[0].name
	}
	return w
}

// step goes to the next spans. It notes the first step that has none.
func (w *walk) step(how string, at []*span) *walk {
	if len(at) == 0 && w.missing == "" {
		w.missing = fmt.Sprintf("%s: from %q there is no step %s", w.of, w.way, how)
	}
	return w.from(at)
}

// child goes to children.
func (w *walk) child(service, name string) *walk {
	var at []*span
	for _, s := range w.c.find(service, name, "", "") {
		if slices.ContainsFunc(w.at, func(above *span) bool { return s.parent == above.id }) {
			at = append(at, s)
		}
	}
	return w.step(fmt.Sprintf("down to %q of the %s", name, service), at)
}

// parent goes to parents.
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

// links keeps the spans that have a link to one of these.
func (w *walk) links(to []*span) {
	w.step("on, which links back", slices.DeleteFunc(slices.Clone(w.at), func(s *span) bool {
		return !slices.ContainsFunc(to, func(other *span) bool { return slices.Contains(s.links, other.id) })
	}))
}

package main

import (
	"context"
	"sync"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// watchPace is how often the roles of a pair are looked at.
const watchPace = 150 * time.Millisecond

// watch notes the times whose writes a failover may lose until ctx ends.
func (p *pair) watch(ctx context.Context, lost func(history.Span)) {
	w := watch{primary: -1}
	for pause(ctx, watchPace) {
		begun := history.Now()
		var looks sync.WaitGroup
		for i, r := range p.servers {
			looks.Go(func() {
				is, err := r.role(ctx)
				w.servers[i].look(is, err == nil, history.Now())
			})
		}
		looks.Wait()
		if span, ok := w.step(begun, history.Now()); ok {
			lost(span)
		}
	}
}

// watched is what the watch knows of a server.
type watched struct {
	role
	there bool
	// wrote is when it may have accepted a write at the latest.
	wrote history.Moment
}

// look notes what a server says, if it answers. A process that was just started has accepted no write.
func (w *watched) look(is role, there bool, now history.Moment) {
	if !there {
		if w.there {
			w.there, w.wrote = false, now
		}
		return
	}
	if is.run == w.run && is.primary && is.written != w.written {
		w.wrote = now
	}
	w.role, w.there = is, true
}

// watch is what is known of a pair.
type watch struct {
	servers [2]watched
	// primary is the number of the primary when the pair was whole last, -1 before.
	primary int
	// safe is until when the replica surely has all writes.
	safe history.Moment
	// two tells that the other one was a primary since then.
	two bool
	// asked is up to where the primary had written, and when. The replica has all of that once it is as far.
	asked   int64
	askedAt history.Moment
}

// step judges what the servers said between two moments. When the pair is whole again with another primary, it returns
// the time whose writes may be lost: from when the replica that took over surely had all until the last moment when the
// former primary may have accepted a write.
func (w *watch) step(begun, now history.Moment) (lost history.Span, ok bool) {
	whole := -1
	for i, s := range w.servers {
		other := w.servers[1-i]
		if s.there && s.primary && other.there && !other.primary && other.linked {
			whole = i
		}
		w.two = w.two || w.primary >= 0 && i != w.primary && s.there && s.primary
	}
	switch {
	case whole < 0: // it is not over
		return lost, false
	case w.primary < 0 || whole != w.primary || w.two:
		ok, lost = w.primary >= 0, history.Span{From: w.safe, To: w.servers[1-whole].wrote}
		if whole == w.primary { // there and back
			lost.To = now
		}
		lost.To = max(lost.From, lost.To)
		w.primary, w.safe, w.two, w.askedAt = whole, begun, false, 0
	case w.askedAt == 0 || w.servers[1-whole].offset >= w.asked:
		if w.askedAt != 0 {
			w.safe = w.askedAt
		}
		w.asked, w.askedAt = w.servers[whole].offset, begun
	}
	return lost, ok
}

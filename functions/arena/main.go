// Arena is a match function for games of several players that are close in one numeric attribute. It fills running
// games before it opens new ones, and may open a game before it is full. README.md describes its settings.
package main

import (
	"math"
	"strconv"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.RegisterMatcher(begin, waiting.Declare()...)

func main() {}

// line has the tickets with the attribute, sorted by its value.
type line struct {
	tickets             []uint32
	value, window, wait []float64
}

// group is a part of a line.
type group struct {
	tickets     []uint32
	first, last float64 // values
	// narrowest and sum are of the tickets' windows, wait is the longest.
	narrowest, sum, wait float64
}

// open opens games for tickets that are close to each other.
func open(r *matchfn.Run, rules *rules, tickets []uint32, matched []bool) {
	var l line
	l.tickets, l.value = waiting.Sorted(waiting.Unmatched(tickets, matched), r.Attribute(rules.Attribute))
	l.wait = matchfn.Gather(r.Wait(), l.tickets)
	l.window = rules.Window.AfterEach(l.wait)
	for i := 0; i < len(l.tickets); {
		g := l.group(i, rules.players)
		if !rules.opens(len(g.tickets), g.wait) {
			i++
			continue
		}
		propose(r, rules, &g, g.tickets)
		for _, t := range g.tickets {
			matched[t] = true
		}
		i += len(g.tickets)
	}
}

// group returns the longest group from a place in the line on whose tickets are all within each other's windows. It has
// at most most tickets.
func (l *line) group(from, most int) group {
	g := group{first: l.value[from], narrowest: math.Inf(1)}
	end := from
	for ; end < len(l.tickets) && end-from < most; end++ {
		narrowest, value, wait := g.narrowest, l.value[end], l.wait[end]
		if l.window[end] < narrowest { // min and max would be calls in WebAssembly
			narrowest = l.window[end]
		}
		if value-g.first > narrowest {
			break
		}
		g.last, g.narrowest, g.sum = value, narrowest, g.sum+l.window[end]
		if wait > g.wait {
			g.wait = wait
		}
	}
	g.tickets = l.tickets[from:end]
	return g
}

// propose proposes a game. Its backfill ticket says how many more players it takes.
func propose(r *matchfn.Run, rules *rules, g *group, numbers []uint32) {
	n := float64(len(numbers))
	p := r.Propose(g.sum/n-(g.last-g.first), numbers...).
		MatchProperties(append(strconv.AppendInt([]byte(`{"places":`), int64(rules.players), 10), '}'))
	p.CreateBackfill().
		Attribute(waiting.Open, float64(rules.players)-n).
		Attribute(rules.Attribute, (g.first+g.last)/2)
}

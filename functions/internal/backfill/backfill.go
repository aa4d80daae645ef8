// Package backfill fills running games, before a match function opens new ones.
//
// A running game is a backfill ticket. Its attribute "open" is the number of players that it still takes. Each proposal
// lowers the attribute by the players that it sends, so that the next run knows, until the game's server sets it. The
// game's place in the order of players is its attribute of the same name as theirs.
package backfill

import (
	"math"
	"sort"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// Fill proposes to each game, the oldest first, the nearest tickets. To a game without the attribute it proposes the
// tickets that have waited longest. The score of a proposal is the mean of what the tickets' windows exceed their
// distance by. Fill marks its tickets as matched. Tickets and games must be ascending.
func Fill(r *matchfn.Run, rules *waiting.Rules, tickets, games []uint32, matched []bool) {
	FillFrom(r, rules, games, &column{r: r, rules: rules, tickets: tickets, matched: matched})
}

// Source is where FillFrom finds tickets.
type Source interface {
	// Nearest returns up to places tickets that are nearest to a value, within their windows, and their score.
	Nearest(at float64, places int) (chosen []uint32, score float64)
	// Longest returns up to places tickets that have waited longest.
	Longest(places int) (chosen []uint32)
	// Forget removes a ticket that was chosen.
	Forget(ticket uint32)
}

// FillFrom is Fill for tickets of any source.
func FillFrom(r *matchfn.Run, rules *waiting.Rules, games []uint32, from Source) {
	open := r.BackfillAttribute(waiting.Open)
	for _, game := range games {
		places := int(min(open[game], math.MaxInt32)) // read only if there is one
		if !(open[game] >= 1) {
			continue
		}
		var chosen []uint32
		score := 0.0
		if at := r.BackfillAttribute(rules.Attribute)[game]; at != at { // NaN
			chosen = from.Longest(places)
		} else {
			chosen, score = from.Nearest(at, places)
		}
		if len(chosen) == 0 {
			continue
		}
		for _, t := range chosen {
			from.Forget(t)
		}
		r.Propose(score, chosen...).UpdateBackfill(game).Attribute(waiting.Open, open[game]-float64(len(chosen)))
	}
}

// Open returns whether a game takes players.
func Open(r *matchfn.Run, games []uint32) bool {
	open := r.BackfillAttribute(waiting.Open)
	for _, game := range games {
		if open[game] >= 1 {
			return true
		}
	}
	return false
}

// column is the tickets of a run.
type column struct {
	r       *matchfn.Run
	rules   *waiting.Rules
	tickets []uint32
	matched []bool
	line    *line    // nil until it is needed
	queue   []uint32 // likewise
}

func (c *column) Forget(ticket uint32) { c.matched[ticket] = true }

func (c *column) Longest(places int) (chosen []uint32) {
	if c.queue == nil {
		c.queue = matchfn.SortPool(c.tickets, c.r.Created())
	}
	chosen, c.queue = longest(c.queue, c.matched, places)
	return chosen
}

func (c *column) Nearest(at float64, places int) (chosen []uint32, score float64) {
	if c.line == nil {
		c.line = newLine(c.r, c.rules, c.tickets, c.matched)
	}
	return c.line.nearest(at, places)
}

// longest takes up to places tickets from the front of a queue, and returns them and the rest of the queue.
func longest(queue []uint32, matched []bool, places int) (chosen, rest []uint32) {
	for len(queue) > 0 && len(chosen) < places {
		t := queue[0]
		queue = queue[1:]
		if !matched[t] {
			chosen = append(chosen, t)
		}
	}
	return chosen, queue
}

// line has the tickets with the attribute, sorted by its value.
type line struct {
	tickets         []uint32
	values, windows []float64 // by place in the line
	matched         []bool    // by ticket
	// low finds tickets whose windows reach down to a value, high those whose windows reach up to it. high has the
	// opposite order and the opposite sign of values.
	low, high tree
}

func newLine(r *matchfn.Run, rules *waiting.Rules, tickets []uint32, matched []bool) *line {
	l := &line{matched: matched}
	l.tickets, l.values = waiting.Sorted(tickets, r.Attribute(rules.Attribute))
	l.windows = rules.Window.AfterEach(matchfn.Gather(r.Wait(), l.tickets))
	n := len(l.tickets)
	l.low = newTree(n, func(i int) float64 { return l.values[i] - l.windows[i] })
	l.high = newTree(n, func(i int) float64 { return -l.values[n-1-i] - l.windows[n-1-i] })
	return l
}

// nearest returns the tickets nearest to a value, within their own windows, and the mean of what the windows exceed the
// distances by.
func (l *line) nearest(at float64, places int) (chosen []uint32, score float64) {
	n := len(l.tickets)
	above := sort.SearchFloat64s(l.values, at)
	below := n - above // from the other end
	for len(chosen) < places {
		above, below = l.low.first(above, at), l.high.first(below, -at)
		lower, higher := math.Inf(1), math.Inf(1)
		if below < n {
			lower = at - l.values[n-1-below]
		}
		if above < n {
			higher = l.values[above] - at
		}
		gap, place := lower, n-1-below
		if higher < lower {
			gap, place = higher, above
		}
		if gap > math.MaxFloat64 {
			break // no ticket is left on either side
		}
		if place == above {
			above++
		} else {
			below++
		}
		ticket, window := l.tickets[place], l.windows[place]
		if gap > window {
			continue // after rounding
		}
		l.low.drop(place)
		l.high.drop(n - 1 - place)
		if !l.matched[ticket] {
			chosen = append(chosen, ticket)
			score += window - gap
		}
	}
	if len(chosen) > 0 {
		score /= float64(len(chosen))
	}
	return chosen, score
}

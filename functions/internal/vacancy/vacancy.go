// Package vacancy finds players for running games, before a match function opens new ones.
//
// A running game is a backfill ticket. Its attribute "open" says how many more players it takes; each proposal
// lowers it by those that it sends, so that the next one knows, until the game's server has a word. An attribute of the
// same name as the players' says where in it the game is.
package vacancy

import (
	"math"
	"sort"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// Open is the attribute of a backfill ticket that says how many more players its game takes.
const Open = "open"

// Search is for whom places are looked for, and where.
type Search struct {
	// Games and Tickets are numbers of the run, ascending.
	Games, Tickets []uint32
	// Attribute is the name of the attribute that players and games are compared by.
	Attribute string
	// Window is how far from a game a ticket may be.
	Window waiting.Window
}

// Fill proposes to each game, the oldest first, the tickets nearest to it, and where the game does not
// have the attribute those that have waited longest. The score of a proposal is how much room the tickets'
// windows leave on average. Fill marks the tickets that it proposed.
func Fill(r *matchfn.Run, s Search, taken []bool) {
	open := r.BackfillAttribute(Open)
	var l *line
	var queue []uint32
	for _, game := range s.Games {
		places := int(min(open[game], math.MaxInt32)) // NaN and less than one are none
		if !(open[game] >= 1) {
			continue
		}
		var chosen []uint32
		score := 0.0
		if at := r.BackfillAttribute(s.Attribute)[game]; at != at {
			if queue == nil {
				queue = matchfn.SortPool(s.Tickets, r.Created())
			}
			chosen, queue = longest(queue, taken, places)
		} else {
			if l == nil {
				l = newLine(r, s, taken)
			}
			chosen, score = l.nearest(at, places)
		}
		if len(chosen) == 0 {
			continue
		}
		for _, t := range chosen {
			taken[t] = true
		}
		r.Propose(score, chosen...).UpdateBackfill(game).Attribute(Open, open[game]-float64(len(chosen)))
	}
}

// longest are those that have waited longest, out of a queue, and what is left of it.
func longest(queue []uint32, taken []bool, places int) (chosen, rest []uint32) {
	for len(queue) > 0 && len(chosen) < places {
		t := queue[0]
		queue = queue[1:]
		if !taken[t] {
			chosen = append(chosen, t)
		}
	}
	return chosen, queue
}

// line is the tickets in the order of their values.
type line struct {
	tickets         []uint32
	values, windows []float64 // by place in the line
	taken           []bool    // by ticket
	// low finds those whose windows reach down to a value, high those whose reach up to it: there places count from the
	// other end, and signs are turned round.
	low, high reach
}

func newLine(r *matchfn.Run, s Search, taken []bool) *line {
	l := &line{taken: taken}
	l.tickets, l.values = waiting.Order(s.Tickets, r.Attribute(s.Attribute))
	l.windows = s.Window.AfterEach(matchfn.Gather(r.Wait(), l.tickets))
	n := len(l.tickets)
	l.low = newReach(n, func(i int) float64 { return l.values[i] - l.windows[i] })
	l.high = newReach(n, func(i int) float64 { return -l.values[n-1-i] - l.windows[n-1-i] })
	return l
}

// nearest are the tickets nearest to a value within their own windows, and how much room these leave on average.
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
			break // on both sides
		}
		if place == above {
			above++
		} else {
			below++
		}
		ticket, window := l.tickets[place], l.windows[place]
		if gap > window {
			continue // by a rounding
		}
		l.low.drop(place)
		l.high.drop(n - 1 - place)
		if !l.taken[ticket] {
			chosen = append(chosen, ticket)
			score += window - gap
		}
	}
	if len(chosen) > 0 {
		score /= float64(len(chosen))
	}
	return chosen, score
}

// Package vacancy finds players for running games, before a match function opens new ones.
//
// A running game is a backfill ticket. Its attribute "open" says how many more players it takes; each proposal
// lowers it by those that it sends, so that the next one knows, until the game's server has a word. An attribute of the
// same name as the players' says where in it the game is.
package vacancy

import (
	"math"
	"sort"

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
	// Window is how far from a game a ticket may be, after a wait in seconds.
	Window func(wait float64) float64
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
			chosen = longest(queue, taken, places)
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

// longest are those that have waited longest, out of a queue.
func longest(queue []uint32, taken []bool, places int) []uint32 {
	var chosen []uint32
	for _, t := range queue {
		if len(chosen) == places {
			break
		}
		if !taken[t] {
			chosen = append(chosen, t)
		}
	}
	return chosen
}

// line is the tickets in the order of their values.
type line struct {
	tickets        []uint32
	value, windows []float64 // by place in the line
	taken          []bool    // by ticket
	// widest is the greatest window: beyond it nobody needs to be looked at.
	widest float64
}

func newLine(r *matchfn.Run, s Search, taken []bool) *line {
	values, wait := r.Attribute(s.Attribute), r.Wait()
	l := &line{taken: taken}
	for _, t := range matchfn.SortPool(s.Tickets, values) {
		if values[t] != values[t] {
			break // NaN comes last: without the attribute
		}
		if taken[t] {
			continue
		}
		window := s.Window(wait[t])
		l.tickets, l.value, l.windows = append(l.tickets, t), append(l.value, values[t]), append(l.windows, window)
		l.widest = max(l.widest, window)
	}
	return l
}

// nearest are the tickets nearest to a value within their own windows, and how much room these leave on average.
func (l *line) nearest(at float64, places int) (chosen []uint32, score float64) {
	high := sort.SearchFloat64s(l.value, at)
	low := high - 1
	for len(chosen) < places {
		below, above := math.Inf(1), math.Inf(1)
		if low >= 0 {
			below = at - l.value[low]
		}
		if high < len(l.value) {
			above = l.value[high] - at
		}
		gap, place := below, low
		if above < below {
			gap, place = above, high
		}
		if gap > l.widest {
			break // on both sides
		}
		if place == low {
			low--
		} else {
			high++
		}
		if !l.taken[l.tickets[place]] && gap <= l.windows[place] {
			chosen = append(chosen, l.tickets[place])
			score += l.windows[place] - gap
		}
	}
	if len(chosen) > 0 {
		score /= float64(len(chosen))
	}
	return chosen, score
}

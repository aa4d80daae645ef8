// Duel is a match function for one against one: it pairs tickets that are
// close in one numeric attribute, and what counts as close widens while they
// wait. Running duels that lost a player are filled before new ones begin. README.md lists its settings.
package main

import (
	"math"
	"slices"

	"matchmaker.dev/functions/internal/vacancy"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// The attribute is a setting, so every attribute has to travel.
var _ = matchfn.Register(match, matchfn.Properties())

func main() {}

func match(r *matchfn.Run) error {
	rules, err := parseRules(r.Settings())
	if err != nil {
		return err
	}
	tickets, games := waiting.In(r, rules.pool)
	taken := make([]bool, r.Tickets())
	if len(games) > 0 {
		vacancy.Fill(r, vacancy.Search{Games: games, Tickets: tickets, Attribute: rules.attribute, Window: rules.window}, taken)
		tickets = waiting.Left(tickets, taken)
	}
	value := r.Attribute(rules.attribute)
	l := newLine(&rules, tickets, value, r.Wait())
	l.pair(func(score float64, a, b uint32) {
		p := r.Propose(score, a, b)
		if rules.refill {
			p.MatchProperties([]byte(`{"places":2}`))
			p.CreateBackfill().Attribute(vacancy.Open, 0).Attribute(rules.attribute, (value[a]+value[b])/2)
		}
		taken[a], taken[b] = true, true
	})
	waiting.Expire(r, rules.timeout, tickets, taken)
	return nil
}

// line is the tickets that have the attribute, in its order. Places 0 and
// len-1 are held by nobody, out of everybody's reach.
type line struct {
	places []place
	wait   []float64
}

type place struct {
	value, window float64
	ticket        uint32
	// before and after are the nearest places that are still in line.
	before, after uint32
}

func newLine(rules *rules, tickets []uint32, value, wait []float64) *line {
	order, values := waiting.Order(tickets, value)
	l := &line{places: make([]place, len(order)+2), wait: matchfn.Gather(wait, order)}
	windows := rules.window.AfterEach(l.wait)
	for i, t := range order {
		l.places[i+1] = place{value: values[i], window: windows[i], ticket: t, before: uint32(i), after: uint32(i + 2)}
	}
	l.places[0].value, l.places[len(order)+1].value = math.Inf(-1), math.Inf(1)
	return l
}

// pair calls propose for every pair it makes. The narrowest windows choose
// first: whoever is left over after choosing has nobody within reach, and so no
// two that are left over could have been paired. Of the next lower and the
// next higher neighbour the one with the better score is chosen.
func (l *line) pair(propose func(score float64, a, b uint32)) {
	for _, at := range l.narrowestFirst() {
		p := &l.places[at]
		if p.before == p.after {
			continue // left the line already, see remove
		}
		before, after := p.before, p.after
		l.remove(at)
		low, lowOK := l.score(before, at)
		high, highOK := l.score(at, after)
		switch {
		case lowOK && (!highOK || low >= high):
			l.remove(before)
			propose(low, l.places[before].ticket, p.ticket)
		case highOK:
			l.remove(after)
			propose(high, p.ticket, l.places[after].ticket)
		}
	}
}

// narrowestFirst returns the places ordered by window, and where windows are
// equal those that waited longest first. Windows grow with the wait until they
// are at their greatest, so that one sort and turning the end round will do.
func (l *line) narrowestFirst() []uint32 {
	order := matchfn.SortBy(l.wait)
	for i := range order {
		order[i]++ // place 0 is nobody's
	}
	if len(order) == 0 {
		return nil
	}
	widest := l.places[order[len(order)-1]].window
	start, _ := slices.BinarySearchFunc(order, widest, func(at uint32, widest float64) int {
		if l.places[at].window < widest {
			return -1
		}
		return 0
	})
	slices.Reverse(order[start:])
	return order
}

// remove takes a place out of the line.
func (l *line) remove(at uint32) {
	p := &l.places[at]
	l.places[p.before].after = p.after
	l.places[p.after].before = p.before
	p.before, p.after = 0, 0
}

// score returns how much room both windows leave on average, and whether the
// distance is within each of them. low must not be above high in line.
func (l *line) score(low, high uint32) (float64, bool) {
	a, b := &l.places[low], &l.places[high]
	gap := b.value - a.value
	return a.window/2 + b.window/2 - gap, gap <= a.window && gap <= b.window
}

// Duel is a match function for one against one. It pairs tickets that are close in one numeric attribute. The allowed
// distance grows while they wait. Running duels that lost a player are filled before new ones begin. README.md
// describes its settings.
package main

import (
	"math"
	"slices"

	"matchmaker.dev/functions/internal/backfill"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.Register(match, waiting.Declare()...)

func main() {}

func match(r *matchfn.Run) error {
	rules, err := parseRules(r.Settings())
	if err != nil {
		return err
	}
	tickets, games := waiting.InPool(r, rules.Pool)
	matched := make([]bool, r.Tickets())
	if len(games) > 0 {
		backfill.Fill(r, &rules.Rules, tickets, games, matched)
		tickets = waiting.Unmatched(tickets, matched)
	}
	value := r.Attribute(rules.Attribute)
	l := newLine(&rules, tickets, value, r.Wait())
	l.pair(func(score float64, a, b uint32) {
		p := r.Propose(score, a, b)
		if rules.refill {
			p.MatchProperties([]byte(`{"places":2}`))
			p.CreateBackfill().Attribute(waiting.Open, 0).Attribute(rules.Attribute, (value[a]+value[b])/2)
		}
		matched[a], matched[b] = true, true
	})
	waiting.Expire(r, rules.Timeout, tickets, matched)
	return nil
}

// line is a linked list of the tickets with the attribute, sorted by its value. The first and the last place are
// sentinels, out of reach of all tickets.
type line struct {
	places []place
	wait   []float64
}

type place struct {
	value, window float64
	ticket        uint32
	// before and after are the neighbours in the list.
	before, after uint32
}

func newLine(rules *rules, tickets []uint32, value, wait []float64) *line {
	order, values := waiting.Sorted(tickets, value)
	l := &line{places: make([]place, len(order)+2), wait: matchfn.Gather(wait, order)}
	windows := rules.Window.AfterEach(l.wait)
	for i, t := range order {
		l.places[i+1] = place{value: values[i], window: windows[i], ticket: t, before: uint32(i), after: uint32(i + 2)}
	}
	l.places[0].value, l.places[len(order)+1].value = math.Inf(-1), math.Inf(1)
	return l
}

// pair calls propose for every pair. The tickets with the narrowest windows choose first: from their two neighbours,
// the one with the better score. A ticket that finds nobody within reach is out of reach of all tickets that choose
// later. So no two tickets that are left over could have been paired.
func (l *line) pair(propose func(score float64, a, b uint32)) {
	for _, at := range l.narrowestFirst() {
		p := &l.places[at]
		if p.before == p.after {
			continue // removed
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

// narrowestFirst returns the places, those with the narrowest windows first. Of equal windows, the longest wait comes
// first. Windows grow with the wait up to a maximum, so it is enough to sort by wait and to reverse the tickets with
// the widest window.
func (l *line) narrowestFirst() []uint32 {
	order := matchfn.SortBy(l.wait)
	for i := range order {
		order[i]++ // place 0 is a sentinel
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

// remove removes a place from the list.
func (l *line) remove(at uint32) {
	p := &l.places[at]
	l.places[p.before].after = p.after
	l.places[p.after].before = p.before
	p.before, p.after = 0, 0
}

// score returns how much greater than the distance the mean of both windows is, and whether the distance is within both
// windows. low must be before high.
func (l *line) score(low, high uint32) (float64, bool) {
	a, b := &l.places[low], &l.places[high]
	gap := b.value - a.value
	return a.window/2 + b.window/2 - gap, gap <= a.window && gap <= b.window
}

// Arena is a match function for games of several players that are close in one numeric attribute. It fills running
// games before it opens new ones, and may open a game before it is full. README.md describes its settings.
package main

import (
	"math"
	"strconv"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.RegisterMatcher(begin, waiting.Declare(matchfn.PlayerIDs())...)

func main() {}

// sorted has the tickets with the attribute, sorted by its value.
type sorted struct {
	tickets             []uint32
	value, window, wait []float64
	size                []uint32 // players; nil if each ticket has one
}

// group is a part of a list.
type group struct {
	tickets     []uint32
	players     int
	first, last float64 // values
	// narrowest is the least of the tickets' windows, sum the sum of the players' windows, wait the longest wait.
	narrowest, sum, wait float64
	// places are where the tickets are, from the group's first place on; nil if they follow each other.
	places []int
}

// open opens games for tickets that are close to each other.
func open(r *matchfn.Run, rules *rules, tickets []uint32, matched []bool) {
	var l sorted
	sizes, ids := waiting.Sizes(r), waiting.IDs(r)
	l.tickets, l.value = waiting.Sorted(waiting.Unmatched(tickets, matched), rules.Values(r, sizes))
	l.wait = matchfn.Gather(r.Wait(), l.tickets)
	l.window = rules.Window.AfterEach(l.wait)
	if sizes != nil {
		l.size = make([]uint32, len(l.tickets))
		for i, t := range l.tickets {
			l.size[i] = sizes[t]
		}
	}
	for i := 0; i < len(l.tickets); {
		g := l.group(i, rules.players)
		if !rules.opens(g.players, g.wait) {
			i++
			continue
		}
		propose(r, rules, &g, ids)
		for _, t := range g.tickets {
			matched[t] = true
		}
		l.front(i, g.places)
		i += len(g.tickets)
	}
}

// group returns the longest group from a place in the list on whose tickets are all within each other's windows. It
// looks at most tickets, has at most most players, and passes over tickets with more players than there is room for.
func (l *sorted) group(from, most int) group {
	g := group{first: l.value[from], narrowest: math.Inf(1)}
	at := from
	for ; at < len(l.tickets) && at-from < most && g.players < most; at++ {
		size := 1
		if l.size != nil {
			if size = int(l.size[at]); g.passes(size, most, at-from) {
				continue
			}
		}
		narrowest, value, wait := g.narrowest, l.value[at], l.wait[at]
		if l.window[at] < narrowest { // min and max would be calls in WebAssembly
			narrowest = l.window[at]
		}
		if !(waiting.Excess(narrowest, g.first, value) >= 0) {
			break
		}
		g.last, g.narrowest, g.sum = value, narrowest, g.sum+l.window[at]*float64(size)
		g.players += size
		if wait > g.wait {
			g.wait = wait
		}
		if g.places != nil {
			g.places = append(g.places, at-from)
		}
	}
	if g.places == nil {
		g.tickets = l.tickets[from:at]
		return g
	}
	for _, place := range g.places {
		g.tickets = append(g.tickets, l.tickets[from+place])
	}
	return g
}

// passes reports whether the group has no room for a ticket of so many players, and notes that its tickets do not
// follow each other. at is how many places were looked at before.
func (g *group) passes(players, most, at int) bool {
	if g.players+players <= most {
		return false
	}
	if g.places == nil {
		g.places = make([]int, at, most)
		for i := range g.places {
			g.places[i] = i
		}
	}
	return true
}

// front moves the places of a group, which begins at a place, before the places that it passed over.
func (l *sorted) front(from int, places []int) {
	front(l.tickets[from:], places)
	front(l.value[from:], places)
	front(l.window[from:], places)
	front(l.wait[from:], places)
	if l.size != nil {
		front(l.size[from:], places)
	}
}

// front moves some elements of a list, whose places ascend, before all others.
func front[T any](list []T, places []int) {
	if len(places) == 0 {
		return
	}
	var passed []T
	next := 0
	for i := range places[len(places)-1] + 1 {
		if places[next] == i {
			list[next] = list[i]
			next++
		} else {
			passed = append(passed, list[i])
		}
	}
	copy(list[next:], passed)
}

// propose proposes a game. Its backfill ticket says how many more players it takes, and lists its players. ids returns
// the ids of a ticket's players.
func propose(r *matchfn.Run, rules *rules, g *group, ids func(ticket uint32) string) {
	n := float64(g.players)
	p := r.Propose(max(0, g.sum/n-(g.last-g.first)), g.tickets...).
		MatchProperties(append(strconv.AppendInt([]byte(`{"places":`), int64(rules.players), 10), '}'))
	if rules.measure {
		p.Measure("gap", g.last-g.first)
	}
	game := p.CreateBackfill().
		Attribute(waiting.Open, float64(rules.players)-n).
		Attribute(rules.Attribute, (g.first+g.last)/2)
	waiting.Seat(game, nil, g.tickets, ids)
}

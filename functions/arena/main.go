// Arena is a match function for games of several players that are close in one numeric attribute. It fills
// running games before it opens new ones, and may open one before it is full. README.md lists its settings.
package main

import (
	"math"
	"strconv"

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
	vacancy.Fill(r, vacancy.Search{Games: games, Tickets: tickets, Attribute: rules.attribute, Window: rules.window}, taken)
	open(r, &rules, tickets, taken)
	waiting.Expire(r, rules.timeout, tickets, taken)
	return nil
}

// line is the tickets that have the attribute, in its order.
type line struct {
	tickets             []uint32
	value, window, wait []float64
}

// group is tickets side by side in a line.
type group struct {
	tickets     []uint32
	first, last float64 // values
	// narrowest window of its tickets, sum of all of them, and the longest wait.
	narrowest, sum, waited float64
}

// open opens games for tickets that are close to each other.
func open(r *matchfn.Run, rules *rules, tickets []uint32, taken []bool) {
	var l line
	l.tickets, l.value = waiting.Order(waiting.Left(tickets, taken), r.Attribute(rules.attribute))
	l.wait = matchfn.Gather(r.Wait(), l.tickets)
	l.window = rules.window.AfterEach(l.wait)
	for i := 0; i < len(l.tickets); {
		g := l.group(i, rules.players)
		if n := len(g.tickets); n < rules.players && (n < rules.least || g.waited < rules.early) {
			i++
			continue
		}
		propose(r, rules, &g)
		for _, t := range g.tickets {
			taken[t] = true
		}
		i += len(g.tickets)
	}
}

// group is as many tickets as are within each other's reach from a place in the line on, at most so many.
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
		if wait > g.waited {
			g.waited = wait
		}
	}
	g.tickets = l.tickets[from:end]
	return g
}

// propose proposes a game. Its server asks for more players as soon as it has room.
func propose(r *matchfn.Run, rules *rules, g *group) {
	n := float64(len(g.tickets))
	p := r.Propose(g.sum/n-(g.last-g.first), g.tickets...).
		MatchProperties(append(strconv.AppendInt([]byte(`{"places":`), int64(rules.players), 10), '}'))
	p.CreateBackfill().
		Attribute(vacancy.Open, float64(rules.players)-n).
		Attribute(rules.attribute, (g.first+g.last)/2)
}

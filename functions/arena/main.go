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
	vacancy.Fill(r, vacancy.Search{Games: games, Tickets: tickets, Attribute: rules.attribute, Window: rules.window.After}, taken)
	open(r, &rules, tickets, taken)
	waiting.Expire(r, rules.timeout, tickets, taken)
	return nil
}

// group is tickets side by side in the order of their values.
type group struct {
	tickets     []uint32
	first, last float64 // values
	// narrowest window of its tickets, sum of all of them, and the longest wait.
	narrowest, sum, waited float64
}

// add adds the next ticket, unless it would be out of somebody's reach.
func (g *group) add(ticket uint32, value, window, wait float64) bool {
	if len(g.tickets) == 0 {
		g.first, g.narrowest = value, math.Inf(1)
	}
	narrowest := min(g.narrowest, window)
	if value-g.first > narrowest {
		return false
	}
	g.tickets = append(g.tickets, ticket)
	g.last, g.narrowest, g.sum, g.waited = value, narrowest, g.sum+window, max(g.waited, wait)
	return true
}

// open opens games for tickets that are close to each other.
func open(r *matchfn.Run, rules *rules, tickets []uint32, taken []bool) {
	value, wait := r.Attribute(rules.attribute), r.Wait()
	var line []uint32
	for _, t := range matchfn.SortPool(tickets, value) {
		if value[t] == value[t] && !taken[t] { // NaN is not itself: without the attribute
			line = append(line, t)
		}
	}
	for i := 0; i < len(line); {
		var g group
		for _, t := range line[i:] {
			if len(g.tickets) == rules.players || !g.add(t, value[t], rules.window.After(wait[t]), wait[t]) {
				break
			}
		}
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

// propose proposes a game. Its server asks for more players as soon as it has room.
func propose(r *matchfn.Run, rules *rules, g *group) {
	n := float64(len(g.tickets))
	p := r.Propose(g.sum/n-(g.last-g.first), g.tickets...).
		MatchProperties(append(strconv.AppendInt([]byte(`{"places":`), int64(rules.players), 10), '}'))
	p.CreateBackfill().
		Attribute(vacancy.Open, float64(rules.players)-n).
		Attribute(rules.attribute, (g.first+g.last)/2)
}

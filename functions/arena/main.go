// Arena is a match function for games of several players that are close in one numeric attribute. It fills running
// games before it opens new ones, and may open a game before it is full. README.md describes its settings.
package main

import (
	"strconv"

	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.RegisterMatcher(begin, waiting.Declare(matchfn.PlayerIDs())...)

func main() {}

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
	rules.NewGame(p, float64(rules.players)-n, g.first, g.last, g.tickets, ids)
}

package engine

import (
	"math"

	"matchmaker.dev/services/test/quality/world"
)

// openMatch is what the example functions of Open Match do, as its documentation describes them: the profile has a pool
// for each region, and the function takes the tickets of a pool in their order, as many as a match has. Written from
// the description; parties and roles are not among the examples, so that tickets without room are passed over.
type openMatch struct{ game *world.Game }

func (o *openMatch) Match(now float64, waiting []*world.Ticket) ([]Match, error) {
	return byOrder(o.game, now, waiting, func(a, b int) bool { return waiting[a].Home == waiting[b].Home }), nil
}

// nakama is what the matchmaker of Nakama does with a query that asks for the same region and a skill within a range,
// as its documentation describes it: it looks at the tickets at an interval, the oldest first, and takes the oldest of
// those that the queries of both find, until there are enough. Queries do not widen by themselves.
type nakama struct {
	game *world.Game
	next float64
}

// interval is Nakama's default.
const interval = 15

func (n *nakama) Match(now float64, waiting []*world.Ticket) ([]Match, error) {
	if now < n.next {
		return nil, nil
	}
	n.next = now + interval
	// The range is what a client would choose that cannot widen it: the others' range after half a minute.
	within := n.game.Spread.At(30)
	return byOrder(n.game, now, waiting, func(a, b int) bool {
		return waiting[a].Home == waiting[b].Home && math.Abs(waiting[a].Skill()-waiting[b].Skill()) <= within
	}), nil
}

// byOrder makes matches of tickets in their order that may be with the first.
func byOrder(g *world.Game, now float64, waiting []*world.Ticket, with func(a, b int) bool) []Match {
	return greedy(waiting, func(anchor int, taken []bool) (Match, bool) {
		d := newDraft(g, now, waiting)
		d.add(0, anchor)
		for t := anchor + 1; t < len(waiting) && !d.full(); t++ {
			if taken[t] || !with(anchor, t) {
				continue
			}
			if team := d.open(t, false); team >= 0 {
				d.add(team, t)
			}
		}
		return Match{Teams: d.teams, Region: waiting[anchor].Home}, d.full()
	})
}

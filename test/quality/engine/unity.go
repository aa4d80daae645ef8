package engine

import (
	"math"

	"matchmaker.dev/services/test/quality/world"
)

// unity adds tickets in the order of their arrival, to the first team with room, and looks at the rules of the match
// after each. Its rules do not compare teams.
type unity struct{ game *world.Game }

func (u *unity) Match(now float64, waiting []*world.Ticket) ([]Match, error) {
	return greedy(waiting, func(anchor int, taken []bool) (Match, bool) {
		d := newDraft(u.game, now, waiting)
		d.add(0, anchor)
		if !u.allowed(d) {
			return Match{}, false
		}
		for t := anchor + 1; t < len(waiting); t++ {
			if taken[t] {
				continue
			}
			team := d.first(t, true)
			if team < 0 {
				continue
			}
			d.add(team, t)
			if !u.allowed(d) {
				d.drop(team)
				continue
			}
			if d.full() {
				return Match{Teams: d.teams, Region: u.region(d)}, true
			}
		}
		return Match{}, false
	}), nil
}

func (u *unity) region(d *draft) int {
	most := u.game.Ping.At(d.oldest())
	return d.region(func(t, region int) bool { return worst(d.waiting[t], region) <= most })
}

func (u *unity) allowed(d *draft) bool {
	least, most := math.Inf(1), math.Inf(-1)
	for _, t := range d.chosen {
		for i := range d.waiting[t].Players {
			skill := d.waiting[t].Players[i].Skill
			least, most = math.Min(least, skill), math.Max(most, skill)
		}
	}
	return most-least <= u.game.Spread.At(d.oldest()) && u.region(d) >= 0
}

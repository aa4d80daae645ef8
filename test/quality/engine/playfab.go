package engine

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/services/test/quality/world"
)

// playFab adds the eligible tickets that the weights put nearest to the oldest first, to the team with the most open
// slots. Any two tickets must be within the limits of both. Roles are totals of the match, so teams may have different
// ones; the difference of the teams is looked at in the whole match.
type playFab struct{ game *world.Game }

func (p *playFab) Match(now float64, waiting []*world.Ticket) ([]Match, error) {
	return greedy(waiting, func(anchor int, taken []bool) (Match, bool) {
		d := newDraft(p.game, now, waiting)
		d.add(0, anchor)
		var eligible []int
		for t := anchor + 1; t < len(waiting); t++ {
			if !taken[t] && p.near(d, t, anchor) {
				eligible = append(eligible, t)
			}
		}
		skill := waiting[anchor].Skill()
		slices.SortStableFunc(eligible, func(a, b int) int {
			return cmp.Compare(math.Abs(waiting[a].Skill()-skill), math.Abs(waiting[b].Skill()-skill))
		})
		for _, t := range eligible {
			team := d.open(t, false)
			if team < 0 || slices.ContainsFunc(d.chosen, func(o int) bool { return !p.near(d, t, o) }) {
				continue
			}
			d.add(team, t)
			if !p.totals(d) || p.region(d) < 0 {
				d.drop(team)
				continue
			}
			if d.full() {
				youngest := math.Inf(1)
				for _, t := range d.chosen {
					youngest = math.Min(youngest, d.age(t))
				}
				if p.game.Size > 1 && d.gap() > p.game.Gap.At(youngest) {
					d.drop(team) // another ticket may make it fair
					continue
				}
				return Match{Teams: d.teams, Region: p.region(d)}, true
			}
		}
		return Match{}, false
	}), nil
}

func (p *playFab) near(d *draft, a, b int) bool {
	gap := math.Abs(d.waiting[a].Skill() - d.waiting[b].Skill())
	return gap <= p.game.Spread.At(d.age(a)) && gap <= p.game.Spread.At(d.age(b))
}

func (p *playFab) region(d *draft) int {
	return d.region(func(t, region int) bool { return worst(d.waiting[t], region) <= p.game.Ping.At(d.age(t)) })
}

func (p *playFab) totals(d *draft) bool {
	for i, role := range p.game.Roles {
		n := 0
		for team := range d.roles {
			n += d.roles[team][i]
		}
		if n > role.Count*p.game.Teams {
			return false
		}
	}
	return true
}

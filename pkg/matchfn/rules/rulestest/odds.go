package rulestest

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rules"
)

// side is a team as odds look at it: the skills of the players that count, and their deviations.
type side struct{ skills, deviations []float64 }

// odds are the worst of any two teams: one number, or none.
func (g *game) odds(e *rules.OddsOf) []float64 {
	var sides []side
	for _, tickets := range g.teams(nil) {
		if s := g.side(e, tickets); len(s.skills) > 0 {
			sides = append(sides, s)
		}
	}
	var all []float64
	for i, a := range sides {
		for _, b := range sides[:i] {
			all = append(all, between(e, a, b))
		}
	}
	if e.Odds == rules.Quality {
		return reduce(rules.StatMin, all)
	}
	return reduce(rules.StatMax, all)
}

// side looks at the tickets of a team.
func (g *game) side(e *rules.OddsOf, tickets []int) (s side) {
	near := func(n float64) float64 { return max(-rules.MaxSkill, min(n, rules.MaxSkill)) }
	for _, u := range g.units(e.Value, tickets) {
		deviation := 0.0
		if e.Deviation != "" {
			has, some := g.values.of(e.Deviation, u.ticket)[u.player].(float64)
			if !some {
				continue
			}
			if deviation = near(has); g.rules.ValueOf(e.Deviation).Once && u.player > 0 {
				deviation = 0 // the party's first player has it
			}
		}
		s.skills, s.deviations = append(s.skills, near(u.value.(float64))), append(s.deviations, deviation)
	}
	return s
}

// between are the odds of two teams.
func between(e *rules.OddsOf, a, b side) float64 {
	squares := func(s side) float64 {
		var all []float64
		for _, d := range s.deviations {
			all = append(all, d*d)
		}
		return reduce(rules.StatSum, all)[0]
	}
	games := float64(len(a.skills)+len(b.skills)) * (e.Beta * e.Beta)
	variance := games + (squares(a) + squares(b))
	apart := math.Abs(reduce(rules.StatSum, a.skills)[0] - reduce(rules.StatSum, b.skills)[0])
	deviations := apart / math.Sqrt(variance)
	if e.Odds == rules.Quality {
		return math.Sqrt(games/variance) * math.Exp(-deviations*deviations/2)
	}
	return math.Erfc(-deviations/math.Sqrt2) / 2
}

package engine

import (
	"math"
	"math/rand/v2"

	"matchmaker.dev/services/test/quality/world"
)

// flexMatch is FlexMatch's exhaustive search with its defaults: the others come in random order, each is put into the
// team with the most open slots, and all rules are looked at after each, those on averages too.
type flexMatch struct {
	game *world.Game
	rand *rand.Rand
}

func newFlexMatch(g *world.Game, seed uint64) *flexMatch {
	return &flexMatch{g, rand.New(rand.NewPCG(seed, 0xf1e8))} //nolint:gosec // the same seed gives the same order
}

func (f *flexMatch) Match(now float64, waiting []*world.Ticket) ([]Match, error) {
	order := f.rand.Perm(len(waiting))
	return greedy(waiting, func(anchor int, taken []bool) (Match, bool) {
		d := newDraft(f.game, now, waiting)
		d.add(0, anchor)
		if f.region(d) < 0 {
			return Match{}, false
		}
		for _, t := range order {
			if t <= anchor || taken[t] {
				continue
			}
			// A batch distance tells tickets apart before the search.
			if math.Abs(waiting[t].Skill()-waiting[anchor].Skill()) > f.game.Spread.At(d.age(anchor)) {
				continue
			}
			team := d.open(t, true)
			if team < 0 {
				continue
			}
			d.add(team, t)
			if !f.allowed(d) {
				d.drop(team)
				continue
			}
			if d.full() {
				return Match{Teams: d.teams, Region: f.region(d)}, true
			}
		}
		return Match{}, false
	}), nil
}

func (f *flexMatch) region(d *draft) int {
	most := f.game.Ping.At(d.oldest())
	return d.region(func(t, region int) bool { return merged(d.waiting[t], region) <= most })
}

func (f *flexMatch) allowed(d *draft) bool {
	least, most := math.Inf(1), math.Inf(-1)
	for _, t := range d.chosen {
		skill := d.waiting[t].Skill()
		least, most = math.Min(least, skill), math.Max(most, skill)
	}
	oldest := d.oldest()
	if most-least > f.game.Spread.At(oldest) || f.region(d) < 0 {
		return false
	}
	if f.game.Size == 1 {
		return true
	}
	// The rule is on the distance of each team to the mean of all players.
	sum, n := 0.0, 0.0
	for team := range d.teams {
		if d.players[team] > 0 {
			sum, n = sum+d.mean(team)*float64(d.players[team]), n+float64(d.players[team])
		}
	}
	for team := range d.teams {
		if d.players[team] > 0 && math.Abs(d.mean(team)-sum/n) > f.game.Gap.At(oldest)/2 {
			return false
		}
	}
	return true
}

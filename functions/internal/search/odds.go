package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// strength is what the players of a team, or of a ticket, add up to: how many count, the sum of their skills, and the
// sum of the squares of their deviations.
type strength struct{ n, skill, square float64 }

// odds are the worst odds of any two teams, if there are two.
func (b *builder) odds(e *rules.OddsOf) (float64, bool) {
	skill, deviation := b.column(e.Value), b.column(e.Deviation)
	all := b.strengths[:0]
	for _, team := range b.teams {
		skills, squares := b.numbersOf[:0], b.squaresOf[:0]
		for _, t := range team {
			skills, squares = b.pool.skills(skills, squares, skill, deviation, t)
		}
		b.numbersOf, b.squaresOf = skills, squares
		if n := len(skills); n > 0 {
			all = append(all, strength{float64(n), ascending(skills), ascending(squares)})
		}
	}
	if b.strengths = all; len(all) < 2 {
		return 0, false
	}
	b.comparisons += comparisonsPerPair * len(all) * len(all) / 2
	square := e.Beta * e.Beta
	worst := 0.0 // the most standard deviations between two teams
	quality := math.Inf(1)
	for i := range all {
		for j := range all[:i] {
			apart, variance, games := between(&all[i], &all[j], square)
			apart /= math.Sqrt(variance)
			if e.Odds == rules.Quality {
				quality = lesser(quality, math.Sqrt(games/variance)*math.Exp(-apart*apart/2))
			} else {
				worst = greater(worst, apart)
			}
		}
	}
	if e.Odds == rules.Quality {
		return quality, true
	}
	return math.Erfc(-worst/math.Sqrt2) / 2, true
}

// comparisonsPerPair is as how many looks one at two teams counts.
const comparisonsPerPair = 8

// between returns how far the skills of two teams are apart, the variance of the difference in a game, and the part of
// the variance that is not from deviations. square is beta squared.
func between(a, b *strength, square float64) (apart, variance, games float64) {
	games = (a.n + b.n) * square
	return math.Abs(a.skill - b.skill), games + (a.square + b.square), games
}

// ascending sums numbers in ascending order, so that the order of tickets says nothing.
func ascending(of []float64) (sum float64) {
	slices.Sort(of)
	for _, n := range of {
		sum += n
	}
	return sum
}

// skills appends the skills and the squared deviations of the players of a ticket that count. deviation may be nil.
func (p *pool) skills(skills, squares []float64, skill, deviation *column, t uint32) (_, _ []float64) {
	first := p.first[t]
	for player := first; player < p.first[t+1]; player++ {
		n := skill.numbers[player]
		if n != n || !skill.counts(player, first) {
			continue
		}
		if deviation != nil {
			d := deviation.numbers[player]
			if d != d {
				continue
			}
			if deviation.counts(player, first) {
				d = bounded(d)
				squares = append(squares, d*d)
			}
		}
		skills = append(skills, bounded(n))
	}
	return skills, squares
}

func bounded(n float64) float64 { return greater(-rules.MaxSkill, lesser(n, rules.MaxSkill)) }

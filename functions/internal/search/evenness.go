package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rules"
)

// evenness is a rule that bounds the odds of any two teams. Exchanges look at it very often.
type evenness struct {
	odds  *rules.OddsOf
	bound *rules.Bound
	// strict is set if the odds must not be as the bound is.
	strict bool
	of     []strength // of each ticket
}

// findEvenness finds the rules that bound odds.
func (s *search) findEvenness() {
	s.evenness = make([]*evenness, len(s.all))
	for i := range s.all {
		if odds, bound, strict := rules.BoundedOdds(s.all[i].Need); odds != nil {
			s.evenness[i] = &evenness{odds: odds, bound: bound, strict: strict}
		}
	}
}

func (s *search) extendEvenness() {
	var skills, squares []float64
	for _, of := range s.evenness {
		if of == nil {
			continue
		}
		skill, deviation := s.column(of.odds.Value), s.column(of.odds.Deviation)
		for t := len(of.of); t < s.pool.tickets(); t++ {
			skills, squares = s.pool.skills(skills[:0], squares[:0], skill, deviation, uint32(t))
			of.of = append(of.of, strength{float64(len(skills)), ascending(skills), ascending(squares)})
		}
	}
}

// uneven is how far apart teams are beyond a part of what a rule allows, in all pairs of them, as a difference of
// skills. It is infinite if no exchange of tickets between teams changes that.
func (b *builder) uneven(of *evenness, part float64) (sum float64) {
	most, on := b.at(of.bound)
	if !on {
		return 0
	}
	all, several := b.strengths[:0], false
	for _, team := range b.teams {
		var one strength
		for _, t := range team {
			s := &of.of[t]
			one.n, one.skill, one.square = one.n+s.n, one.skill+s.skill, one.square+s.square
		}
		if one.n > 0 {
			all = append(all, one)
		}
		several = several || len(team) > 1
	}
	b.strengths = all
	b.comparisons += comparisonsPerPair * len(all) * len(all) / 2
	b.charge()
	allows := of.allows(most)
	square := of.odds.Beta * of.odds.Beta
	for i := range all {
		for j := range all[:i] {
			apart, variance, games := between(&all[i], &all[j], square)
			squared := allows(games / variance)
			if squared < 0 && len(b.teams) == 2 || math.IsInf(squared, -1) {
				return math.Inf(1)
			}
			sum += greater(0, apart-part*math.Copysign(math.Sqrt(math.Abs(squared)*variance), squared))
		}
	}
	if sum > 0 && !several {
		return math.Inf(1)
	}
	return sum
}

// allows returns how many standard deviations two teams may be apart, squared, by the part of their variance that is
// not from deviations; less than 0 if they must not be like this at all. Unlike the odds, these do not end at 0 and 1.
func (of *evenness) allows(bound float64) func(part float64) float64 {
	if of.odds.Odds == rules.Quality {
		if of.strict {
			bound = math.Nextafter(bound, 1)
		}
		if bound <= 0 {
			return func(float64) float64 { return math.Inf(1) }
		}
		most := -2 * math.Log(bound)
		return func(part float64) float64 { return most + math.Log(part) }
	}
	if of.strict {
		bound = math.Nextafter(bound, 0)
	}
	most := math.Inf(-1)
	switch {
	case bound >= 1:
		most = math.Inf(1)
	case bound >= 0.5:
		most = math.Erfinv(2*bound - 1)
		most *= 2 * most
	}
	return func(float64) float64 { return most }
}

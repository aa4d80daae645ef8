package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/rules"
)

// measured is something that is measured of each match: a condition, or odds.
type measured struct {
	name string
	need measurer
	odds *rules.OddsOf // if need is nil
}

// measures are the spreads, gaps and odds that the rules bound, and then the odds that preferences look at; each name
// once, as many as a proposal may have.
func measures(r *rules.Rules) (all []measured) {
	add := func(m measured) {
		known := slices.ContainsFunc(all, func(before measured) bool { return before.name == m.name })
		if m.name != "" && len(m.name) <= block.MaxMeasureName && !known && len(all) < block.MaxMeasures {
			all = append(all, m)
		}
	}
	for i := range r.Rules {
		need := r.Rules[i].Need
		if odds, _, _ := rules.BoundedOdds(need); odds != nil {
			add(measuredOdds(odds))
		} else if of, is := conditionOf(need).(measurer); is {
			add(measured{name: of.measureName(), need: of})
		}
	}
	for i := range r.Prefer {
		mentions(r.Prefer[i].Amount, func(e rules.Expression) bool {
			if odds, ok := e.(*rules.OddsOf); ok {
				add(measuredOdds(odds))
			}
			return false // visit every expression
		})
	}
	return all
}

func measuredOdds(odds *rules.OddsOf) measured {
	return measured{name: odds.Value + " " + string(odds.Odds), odds: odds}
}

// Measures names what Match.Measures has.
func Measures(r *rules.Rules) (names []string) {
	for _, m := range measures(r) {
		names = append(names, m.name)
	}
	return names
}

// measure returns how far the players of the match differ, and its odds: in the complete match, and between the teams
// that a rule names. Unknown values are -1.
func (b *builder) measure() (values []float64) {
	for _, m := range b.measured {
		v := -1.0
		if m.need != nil {
			v = m.need.measure(b)
		} else if n, some := b.odds(m.odds); some {
			v = n
		}
		if !(v >= 0) || math.IsInf(v, 0) {
			v = -1
		}
		values = append(values, v)
	}
	return values
}

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
	need rules.Condition
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
		} else {
			add(measured{name: measureName(need), need: need})
		}
	}
	for i := range r.Prefer {
		mentions(r.Prefer[i].Amount, func(e rules.Expression) bool {
			if odds, ok := e.(*rules.OddsOf); ok {
				add(measuredOdds(odds))
			}
			return false // setCandidates at all
		})
	}
	return all
}

func measuredOdds(odds *rules.OddsOf) measured {
	return measured{name: odds.Value + " " + string(odds.Odds), odds: odds}
}

// measureName is the name of what a condition measures; empty for one that measures nothing.
func measureName(need rules.Condition) string {
	switch c := need.(type) {
	case *rules.Spread:
		return c.Value + " spread"
	case *rules.Gap:
		if c.Value != "" {
			return c.Value + " gap"
		}
	}
	return ""
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
		if m.odds != nil {
			if n, some := b.odds(m.odds); some {
				v = n
			}
		}
		switch c := m.need.(type) {
		case *rules.Spread:
			least, greatest := math.Inf(1), math.Inf(-1)
			for _, t := range b.chosen {
				low, high := span(b.pool, b.column(c.Value), t)
				least, greatest = lesser(least, low), greater(greatest, high)
			}
			v = greatest - least
		case *rules.Gap:
			v = b.gap(c)
		}
		if !(v >= 0) || math.IsInf(v, 0) {
			v = -1
		}
		values = append(values, v)
	}
	return values
}

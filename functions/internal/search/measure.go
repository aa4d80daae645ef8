package search

import (
	"iter"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/rules"
)

// measured are the spreads and gaps that the rules bound, each value once, as many as a proposal may have.
func measured(r *rules.Rules) iter.Seq2[int, rules.Condition] {
	return func(yield func(int, rules.Condition) bool) {
		n := 0
		for i := range r.Rules {
			name := measureName(r.Rules[i].Need)
			if name == "" || len(name) > block.MaxMeasureName || slices.ContainsFunc(r.Rules[:i], func(before rules.Rule) bool {
				return measureName(before.Need) == name
			}) {
				continue
			}
			if n == block.MaxMeasures || !yield(n, r.Rules[i].Need) {
				return
			}
			n++
		}
	}
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
	for _, need := range measured(r) {
		names = append(names, measureName(need))
	}
	return names
}

// measure returns how far the players of the match differ, by measured: in the whole match, and between the teams that
// a rule names. What nobody knows is -1.
func (b *builder) measure() (values []float64) {
	for _, need := range b.measured {
		v := -1.0
		switch c := need.(type) {
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

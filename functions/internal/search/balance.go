package search

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// balance is a gap between the teams, in a value that the rules bound, that is to be small where no preference says it.
// It counts as a part of what its rule ever allows.
type balance struct {
	gap   *rules.Gap
	scale float64
}

// findBalances finds the gaps and odds that the rules bound, and then the gaps between the averages of the values whose
// spread they bound.
func (s *search) findBalances() {
	several := false
	for i := range s.rules.Teams {
		several = several || ever(s.rules.Teams[i].Size.Max) > 1
	}
	if !several {
		return
	}
	preferred := map[string]bool{}
	for _, p := range s.rules.Prefer {
		teamValues(p, preferred)
	}
	for i := range s.all {
		switch c := s.all[i].Need.(type) {
		case *rules.Gap:
			s.balance(c, c.Max, preferred)
		case *rules.Compare:
			if odds, _, _ := rules.BoundedOdds(c); odds != nil {
				s.balanceOf(rules.StatSum, odds.Value, rules.Fixed(odds.Beta), preferred)
			}
			value, bound := boundedAverage(c)
			s.balanceOf(rules.StatAverage, value, bound, preferred)
		}
	}
	for i := range s.all {
		if c, ok := s.all[i].Need.(*rules.Spread); ok {
			s.balanceOf(rules.StatAverage, c.Value, c.Max, preferred)
		}
	}
}

// teamValues adds the values that a preference compares in teams. It says itself how even teams are to be.
func teamValues(p rules.Preference, values map[string]bool) {
	mentions(p.Amount, func(e rules.Expression) bool {
		switch e := e.(type) {
		case *rules.StatOf:
			values[e.Value] = values[e.Value] || e.Scope.Of != rules.InMatch
		case *rules.OddsOf:
			values[e.Value] = true
		}
		return false // visit every expression
	})
}

// boundedAverage returns the value of the first average in an expression that a condition bounds from above.
func boundedAverage(c *rules.Compare) (value string, bound *rules.Bound) {
	of, most := c.Left, c.Right
	switch c.Op {
	case rules.Less, rules.LessEqual:
	case rules.Greater, rules.GreaterEqual:
		of, most = most, of
	default:
		return "", nil
	}
	literal, fixed := most.(*rules.Literal)
	if !fixed {
		return "", nil
	}
	mentions(of, func(e rules.Expression) bool {
		if of, ok := e.(*rules.StatOf); ok && of.Stat == rules.StatAverage {
			value = cmp.Or(value, of.Value)
		}
		return value != ""
	})
	return value, literal.Bound
}

func (s *search) balanceOf(stat rules.Stat, value string, bound *rules.Bound, preferred map[string]bool) {
	if column := s.column(value); column != nil && column.numbers != nil {
		s.balance(&rules.Gap{Value: value, Stat: stat}, bound, preferred)
	}
}

// balance adds the gap of a value, if it has none yet and no preference says which is better.
func (s *search) balance(gap *rules.Gap, bound *rules.Bound, preferred map[string]bool) {
	known := slices.ContainsFunc(s.balances, func(b balance) bool { return b.gap.Value == gap.Value })
	_, most, _ := bound.Over(0, math.Inf(1))
	if gap.Value != "" && !known && !preferred[gap.Value] && most > 0 && !math.IsInf(most, 1) {
		s.balances = append(s.balances, balance{gap, most})
	}
}

// even exchanges tickets between teams while that makes the gaps smaller, the match is allowed and costs no more, and
// players take their roles no more reluctantly.
func (b *builder) even() {
	if len(b.balances) == 0 {
		return
	}
	b.trials = b.allowance()
	for round := 0; round < rounds && b.trials > 0; round++ {
		b.assignAll() // what was looked at last may be another match
		price, region, limit := b.price, b.region, b.totalRoleCost()
		before := b.imbalance()
		best, bestRegion, good := before, region, move{second: -1}
		b.exchanges(func(m move) {
			if apart := b.imbalance(); apart < best && b.accept() && b.price.cost <= price.cost && b.totalRoleCost() <= limit {
				best, bestRegion, good = apart, b.region, m
			}
		})
		b.price, b.region = price, bestRegion
		if !(best < before) { // which may be no number
			return
		}
		b.swap(good)
	}
}

// totalRoleCost is how reluctantly the players of the match take the roles that they were given.
func (b *builder) totalRoleCost() float64 {
	if !b.byRole {
		return 0
	}
	return b.roleCosts(b.list[:0], rules.Scope{Of: rules.InMatch})[0]
}

// imbalance is how great the gaps of the match are.
func (b *builder) imbalance() (sum float64) {
	for _, of := range b.balances {
		sum += greater(0, (*gap)(of.gap).measure(b)) / of.scale
	}
	return sum
}

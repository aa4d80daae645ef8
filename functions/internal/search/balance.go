package search

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// balance is a gap between the teams that is to be small where no preference says which teams are better: that of a
// value which the rules bound. It counts as a part of what its rule ever allows.
type balance struct {
	gap   *rules.Gap
	of    *share // nil if the gap is not between sums or averages
	scale float64
}

// findBalances finds the gaps that the rules bound, and then those between the averages of the values whose spread they
// bound.
func (s *search) findBalances() {
	several := false
	for i := range s.rules.Teams {
		several = several || ever(s.rules.Teams[i].Size.Max) > 1
	}
	if !several || slices.ContainsFunc(s.rules.Prefer, aboutTeams) {
		return
	}
	for i := range s.all {
		switch c := s.all[i].Need.(type) {
		case *rules.Gap:
			s.balance(c, s.shares[i], c.Max)
		case *rules.Compare:
			if bound, fixed := c.Right.(*rules.Literal); fixed && (c.Op == rules.Less || c.Op == rules.LessEqual) {
				s.balanceAverage(averageIn(c.Left), bound.Bound)
			}
		}
	}
	for i := range s.all {
		if c, ok := s.all[i].Need.(*rules.Spread); ok {
			s.balanceAverage(c.Value, c.Max)
		}
	}
}

// aboutTeams returns whether a preference depends on how players are divided into teams, or may.
func aboutTeams(p rules.Preference) bool {
	if p.Need != nil {
		of, known := scopeOf(p.Need)
		return !known || of != rules.InMatch
	}
	return mentions(p.Amount, func(e rules.Expression) bool {
		switch e := e.(type) {
		case *rules.StatOf:
			return e.Scope.Of != rules.InMatch
		case *rules.OddsOf, *rules.Reluctance:
			return true
		}
		return false
	})
}

// averageIn returns the value of the first average in an expression, or nothing.
func averageIn(e rules.Expression) (value string) {
	mentions(e, func(e rules.Expression) bool {
		if of, ok := e.(*rules.StatOf); ok && of.Stat == rules.StatAverage {
			value = cmp.Or(value, of.Value)
		}
		return value != ""
	})
	return value
}

func (s *search) balanceAverage(value string, bound *rules.Bound) {
	if column := s.column(value); column != nil && column.numbers != nil {
		s.balance(&rules.Gap{Value: value, Stat: rules.StatAverage}, s.shareOf(column), bound)
	}
}

// balance adds a gap, if its value has none yet.
func (s *search) balance(gap *rules.Gap, of *share, bound *rules.Bound) {
	known := slices.ContainsFunc(s.balances, func(b balance) bool { return b.gap.Value == gap.Value })
	if _, most, _ := bound.Over(0, math.Inf(1)); !known && most > 0 && !math.IsInf(most, 1) {
		s.balances = append(s.balances, balance{gap, of, most})
	}
}

// even exchanges tickets between teams while that makes the gaps smaller, and the match is allowed and costs no more.
func (b *builder) even() {
	if len(b.balances) == 0 {
		return
	}
	b.trials = b.allowance()
	for round := 0; round < rounds && b.trials > 0; round++ {
		price, region := b.price, b.region
		before := b.imbalance()
		best, bestRegion, good := before, region, move{second: -1}
		b.moves(func(m move) {
			if b.trials--; b.trials < 0 {
				return
			}
			b.work -= b.total
			b.swap(m)
			if apart := b.imbalance(); apart < best && b.accept() && b.price <= price {
				best, bestRegion, good = apart, b.region, m
			}
			b.swapBack(m)
		})
		b.price, b.region = price, bestRegion
		if !(best < before) { // which may be no number
			return
		}
		b.swap(good)
	}
}

// imbalance is how great the gaps of the match are.
func (b *builder) imbalance() (sum float64) {
	for _, of := range b.balances {
		sum += greater(0, b.apart(of.gap, of.of)) / of.scale
	}
	return sum
}

package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// sharing is a rules.Share.
type sharing rules.Share

func (c *sharing) holds(b *builder, _ int) bool {
	least, on := b.at(c.Min)
	for _, group := range b.groups(c.Scope) {
		if n, some := b.inCommon(b.column(c.Value), group); on && some && float64(n) < least {
			return false
		}
	}
	return true
}

func (c *sharing) compares() (of rules.Of, refuses, closed bool) { return c.Scope.Of, true, true }

func (c *sharing) fits(b *builder, t uint32, others, team []uint32) bool {
	n, some := b.inCommon(b.column(c.Value), append(slices.Clone(b.among(c.Scope, others, team)), t))
	least, _, off := c.Min.Over(0, math.Inf(1))
	return off || !some || float64(n) >= least
}

// inCommon is how many elements the sets of all players have in common, and whether there is a set.
func (b *builder) inCommon(c *column, group []uint32) (n int, some bool) {
	var common []uint32
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			set, has := c.set(p)
			if !has {
				continue
			}
			if !some {
				common, some = append(common, set...), true
				continue
			}
			b.comparisons += len(common) * len(set)
			common = slices.DeleteFunc(common, func(e uint32) bool { return !slices.Contains(set, e) })
		}
	}
	return len(common), some
}

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
	return every(b.groups(c.Scope), func(group []uint32) bool {
		n, some := c.inCommon(b, group)
		return !on || !some || float64(n) >= least
	})
}

func (c *sharing) compares() (of rules.Of, refuses, closed bool) { return c.Scope.Of, true, true }

func (c *sharing) fits(b *builder, t uint32, others, team []uint32) bool {
	n, some := c.inCommon(b, append(slices.Clone(b.among(c.Scope, others, team)), t))
	least, _, off := c.Min.Over(0, math.Inf(1))
	return off || !some || float64(n) >= least
}

// inCommon is how many elements the sets of all players have in common, and whether there is a set.
func (c *sharing) inCommon(b *builder, group []uint32) (n int, some bool) {
	b.elements, some = b.together(b.elements[:0], b.column(c.Value), rules.Intersection, group)
	return len(b.elements), some
}

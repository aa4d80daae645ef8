package search

import "matchmaker.dev/pkg/matchfn/rules"

// comparison is a rules.Compare.
type comparison rules.Compare

func (c *comparison) holds(b *builder, region int) bool {
	b.list = b.list[:0]
	left, l := b.numbers(c.Left, region)
	right, r := b.numbers(c.Right, region)
	for i := range paired(left, right) {
		if !c.Op.Holds(left[min(i, len(left)-1)], right[min(i, len(right)-1)], greater(l, r)) {
			return false
		}
	}
	return true
}

func (*comparison) near(b *builder, rule int, part float64) bool {
	of := b.evenness[rule]
	return of == nil || !(b.uneven(of, part) > 0)
}

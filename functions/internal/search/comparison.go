package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rules"
)

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

// extreme is what a comparison limits that holds for a match only if it does for each ticket: the greatest number below
// a constant, or the least above one.
func (c *comparison) extreme() (of *rules.StatOf, limit float64) {
	of, _ = c.Left.(*rules.StatOf)
	right, is := c.Right.(*rules.Literal)
	if of == nil || !is || right.Bound == nil || right.Bound.Off || !right.Bound.Constant() ||
		of.Scope.Of != rules.InMatch {
		return nil, 0
	}
	if c.Op == rules.Less && of.Stat == rules.StatMax || c.Op == rules.Greater && of.Stat == rules.StatMin {
		return of, right.Bound.Start
	}
	return nil, 0
}

func (c *comparison) compares() (of rules.Of, refuses, closed bool) {
	extreme, _ := c.extreme()
	return rules.InMatch, extreme != nil, extreme != nil
}

func (c *comparison) fits(b *builder, t uint32, others, _ []uint32) bool {
	of, limit := c.extreme()
	column := b.column(of.Value)
	for i := -1; i < len(others); i++ {
		o := t
		if i >= 0 {
			o = others[i]
		}
		least, greatest := span(b.pool, column, o)
		if least > greatest {
			continue
		}
		n := least
		if of.Stat == rules.StatMax {
			n = greatest
		}
		if !c.Op.Holds(n, limit, greater(math.Abs(n), math.Abs(limit))) {
			return false
		}
	}
	return true
}

func (*comparison) near(b *builder, rule int, part float64) bool {
	of := b.evenness[rule]
	return of == nil || !(b.uneven(of, part) > 0)
}

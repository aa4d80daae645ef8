package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// holders is a rules.Holders.
type holders rules.Holders

func (c *holders) holds(b *builder, _ int) bool {
	return every(b.groups(c.Scope), func(group []uint32) bool { return b.within(float64(c.count(b, group)), c.Count) })
}

func (c *holders) compares() (of rules.Of, refuses, closed bool) {
	return c.Scope.Of, c.Count.Max != nil, c.Count.Max != nil && c.Count.Min == nil
}

func (c *holders) fits(b *builder, t uint32, others, team []uint32) bool {
	b.noteLoosest(c.Count.Max)
	n := c.count(b, b.among(c.Scope, others, team)) + c.count(b, []uint32{t})
	return float64(n) <= b.loosest(c.Count.Max)
}

// count is how many players of a group have the element.
func (c *holders) count(b *builder, group []uint32) (n int) {
	column := b.column(c.Value)
	element := b.pool.names.numbers[c.Element]
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			if !column.counts(p, b.pool.first[t]) {
				break
			}
			set, _ := column.set(p)
			b.comparisons += len(set)
			if element != 0 && slices.Contains(set, element) {
				n++
			}
		}
	}
	return n
}

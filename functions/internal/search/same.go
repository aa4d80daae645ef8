package search

import "matchmaker.dev/pkg/matchfn/rules"

// same is a rules.Same.
type same rules.Same

func (c *same) holds(b *builder, _ int) bool {
	column := b.column(c.Value)
	return every(b.groups(c.Scope), func(group []uint32) bool {
		for i, t := range group {
			if !c.allows(b, column, t, group[:i]) {
				return false
			}
		}
		return true
	})
}

func (c *same) compares() (of rules.Of, refuses, closed bool) { return c.Scope.Of, true, true }

func (c *same) fits(b *builder, t uint32, others, team []uint32) bool {
	return c.allows(b, b.column(c.Value), t, b.among(c.Scope, others, team))
}

// allows reports whether a ticket may be with others.
func (c *same) allows(b *builder, column *column, t uint32, beside []uint32) bool {
	if c.Different {
		return b.different(column, t, beside)
	}
	return b.alike(column, t, t) && every(beside, func(o uint32) bool { return b.alike(column, t, o) })
}

// alike reports whether the players of two tickets, or of one, all have the same.
func (b *builder) alike(c *column, t, o uint32) bool {
	b.comparisons += b.pool.size(t) * b.pool.size(o)
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		for q := b.pool.first[o]; q < b.pool.first[o+1]; q++ {
			if !c.missing(p) && !c.missing(q) && !equal(c, p, q) {
				return false
			}
		}
	}
	return true
}

func equal(c *column, p, q uint32) bool {
	if c.texts != nil {
		return c.texts[p] == c.texts[q]
	}
	return c.numbers[p] == c.numbers[q]
}

// different reports whether no player of a ticket has the same as another of it or of others.
func (b *builder) different(c *column, t uint32, others []uint32) bool {
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		if c.missing(p) || !c.counts(p, b.pool.first[t]) {
			continue
		}
		for i := -1; i < len(others); i++ {
			o, end := t, p
			if i >= 0 {
				o, end = others[i], b.pool.first[others[i]+1]
			}
			b.comparisons += b.pool.size(o)
			for q := b.pool.first[o]; q < end; q++ {
				if !c.missing(q) && c.counts(q, b.pool.first[o]) && equal(c, p, q) {
					return false
				}
			}
		}
	}
	return true
}

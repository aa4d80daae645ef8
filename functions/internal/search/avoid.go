package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// avoid is a rules.Avoid.
type avoid rules.Avoid

func (c *avoid) holds(b *builder, _ int) bool {
	return every(b.groups(c.Scope), func(group []uint32) bool {
		return every(group, func(t uint32) bool { return c.allows(b, t, group) })
	})
}

func (c *avoid) compares() (of rules.Of, refuses, closed bool) { return c.Scope.Of, true, true }

func (c *avoid) fits(b *builder, t uint32, others, team []uint32) bool {
	beside, self := b.among(c.Scope, others, team), []uint32{t}
	return c.allows(b, t, self) && c.allows(b, t, beside) &&
		every(beside, func(o uint32) bool { return c.allows(b, o, self) })
}

// allows reports whether no player of a ticket is to avoid one of others.
func (c *avoid) allows(b *builder, t uint32, others []uint32) bool {
	lists, ids := b.column(c.Value), b.column(c.ID)
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		set, has := lists.set(p)
		if !has || len(set) == 0 || !lists.counts(p, b.pool.first[t]) {
			continue
		}
		for _, o := range others {
			b.comparisons += b.pool.size(o) * len(set)
			if owner := b.pool.owners[o]; owner != 0 && o != t && ids.value.From == id && slices.Contains(set, owner) {
				return false
			}
			for q := b.pool.first[o]; q < b.pool.first[o+1]; q++ {
				if p != q && ids.texts[q] != 0 && slices.Contains(set, ids.texts[q]) {
					return false
				}
			}
		}
	}
	return true
}

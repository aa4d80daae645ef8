package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// overlap returns whether each player of a group has as many elements in common with the others, or with a list, as the
// rules say.
func (b *builder) overlap(c *rules.Overlap, group []uint32) bool {
	with, _ := b.overlapped(c, group)
	return b.eachOverlap(c, group, with, func(n, _ int) bool { return b.within(float64(n), c.Count) })
}

// mayOverlap returns whether a ticket may be in a group with others, as the loosest bounds say. Of a union each player
// only gets more when others come, and of an intersection less; he never has more than his set has.
func (b *builder) mayOverlap(c *rules.Overlap, t uint32, others []uint32) bool {
	least, most := b.loosestRange(c.Count)
	group := []uint32{t}
	if c.Other != "" && (c.Merge == rules.Intersection || c.Count.Max != nil && len(others) < few) {
		group = append(group, others...) // a union of very many takes too long
	}
	with, some := b.overlapped(c, group)
	return b.eachOverlap(c, group, with, func(n, all int) bool {
		fewest, greatest := n, n
		if c.Other != "" && c.Merge == rules.Union {
			greatest = all
		} else if c.Other != "" {
			if fewest = 0; !some {
				greatest = all // whoever comes may have the first set
			}
		}
		return float64(greatest) >= least && float64(fewest) <= most
	})
}

// overlapped returns the list that the sets of a group are compared with, and whether there is one.
func (b *builder) overlapped(c *rules.Overlap, group []uint32) (with []uint32, some bool) {
	if c.Other != "" {
		return b.together(b.column(c.Other), c.Merge, group)
	}
	with = b.elements[:0]
	for _, text := range c.With {
		if e := b.pool.names.numbers[text]; e != 0 {
			with = append(with, e)
		}
	}
	b.elements = with
	return with, true
}

// eachOverlap looks at how many elements each set of a group has in common with a list, and how many it has at all,
// until look returns false.
func (b *builder) eachOverlap(c *rules.Overlap, group, with []uint32, look func(n, all int) bool) bool {
	column := b.column(c.Value)
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			set, has := column.set(p)
			if !has {
				continue
			}
			b.looks += len(set) * len(with)
			n := 0
			for _, e := range set {
				if slices.Contains(with, e) {
					n++
				}
			}
			if !look(n, len(set)) {
				return false
			}
		}
	}
	return true
}

// together is the union or the intersection of all sets, if there is one.
func (b *builder) together(c *column, how rules.Merge, group []uint32) (all []uint32, some bool) {
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			set, has := c.set(p)
			if !has {
				continue
			}
			if !some || how == rules.Union {
				b.looks += len(set)
				all = append(all, set...)
			} else {
				b.looks += len(set) * len(all)
				all = slices.DeleteFunc(all, func(e uint32) bool { return !slices.Contains(set, e) })
			}
			some = true
		}
	}
	return all, some
}

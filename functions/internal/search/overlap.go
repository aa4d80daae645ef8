package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// singleTicketFilter is an overlap that some tickets never have, whatever joins them. No match can have such a ticket.
type singleTicketFilter struct {
	need   *rules.Overlap
	column *column
	never  []bool // of each ticket
}

// findSingleTicketFilters finds the overlaps that count in every team.
func (s *search) findSingleTicketFilters() {
	for i := range s.all {
		if c, ok := s.all[i].Need.(*rules.Overlap); ok && s.all[i].Active == nil && c.Scope.Of != rules.InTeams {
			s.singleTicketFilters = append(s.singleTicketFilters, &singleTicketFilter{need: c, column: s.column(c.Value)})
		}
	}
}

// extend finds out of each ticket whether a player of it has too few or too many elements in common with a list, or
// fewer elements than he must have in common with others.
func (o *singleTicketFilter) extend(p *pool) {
	least, most := math.Inf(-1), loosestUntil(o.need.Count.Max, math.Inf(1))
	if n, _, off := o.need.Count.Min.Over(0, math.Inf(1)); !off {
		least = n
	}
	with := p.names.lookUp(o.need.With, nil)
	for t := len(o.never); t < p.tickets(); t++ {
		never := false
		for player := p.first[t]; player < p.first[t+1]; player++ {
			set, has := o.column.set(player)
			if !has {
				continue
			}
			if o.need.Other != "" {
				never = never || float64(len(set)) < least
				continue
			}
			n := float64(inBoth(set, with))
			never = never || n < least || n > most
		}
		o.never = append(o.never, never)
	}
}

// singleTicketDecides reports whether, before the match is complete, the overlap can only refuse tickets that never
// have it.
func singleTicketDecides(c *rules.Overlap) bool {
	if c.Other == "" {
		return c.Count.Min.Constant() && c.Count.Max.Constant()
	}
	return c.Merge == rules.Union && c.Count.Max == nil
}

// lookUp appends the numbers of texts that are known.
func (n *interner) lookUp(texts []string, to []uint32) []uint32 {
	for _, text := range texts {
		if e := n.numbers[text]; e != 0 {
			to = append(to, e)
		}
	}
	return to
}

// inBoth is how many elements of a set are in a list.
func inBoth(set, list []uint32) (n int) {
	for _, e := range set {
		if slices.Contains(list, e) {
			n++
		}
	}
	return n
}

// overlap is a rules.Overlap.
type overlap rules.Overlap

func (c *overlap) holds(b *builder, _ int) bool {
	return every(b.groups(c.Scope), func(group []uint32) bool {
		with, _ := c.listOf(b, group)
		return c.each(b, group, with, func(n, _ int) bool { return b.within(float64(n), c.Count) })
	})
}

func (c *overlap) compares() (of rules.Of, refuses, closed bool) { return c.Scope.Of, true, true }

// fits looks at the loosest bounds. Of a union each player only gets more when others come, and of an intersection
// less; he never has more than his set has.
func (c *overlap) fits(b *builder, t uint32, others, team []uint32) bool {
	others = b.among(c.Scope, others, team)
	least, most := b.loosestRange(c.Count)
	group := []uint32{t}
	if c.Other != "" && (c.Merge == rules.Intersection || c.Count.Max != nil && len(others) < few) {
		group = append(group, others...) // a union of very many takes too long
	}
	with, some := c.listOf(b, group)
	return c.each(b, group, with, func(n, all int) bool {
		fewest, greatest := n, n
		if c.Other != "" && c.Merge == rules.Union {
			greatest = all
		} else if c.Other != "" {
			if fewest = 0; !some {
				greatest = all // the next ticket may have the first set
			}
		}
		return float64(greatest) >= least && float64(fewest) <= most
	})
}

// listOf returns the list that the sets of a group are compared with, and whether there is one.
func (c *overlap) listOf(b *builder, group []uint32) (with []uint32, some bool) {
	if c.Other != "" {
		return b.together(nil, b.column(c.Other), c.Merge, group)
	}
	b.elements = b.pool.names.lookUp(c.With, b.elements[:0])
	return b.elements, true
}

// each looks at how many elements each set of a group has in common with a list, and how many it has at all,
// until look returns false.
func (c *overlap) each(b *builder, group, with []uint32, look func(n, all int) bool) bool {
	column := b.column(c.Value)
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			set, has := column.set(p)
			if !has {
				continue
			}
			b.comparisons += len(set) * len(with)
			if !look(inBoth(set, with), len(set)) {
				return false
			}
		}
	}
	return true
}

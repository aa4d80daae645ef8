package pool

import (
	"cmp"
	"math"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// View is the index during a call of Index.View. It must not be used afterwards.
type View struct{ ix *Index }

// View calls f while the index does not change. Other views run at the same time, changes wait.
func (ix *Index) View(f func(View)) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	f(View{ix})
}

// Count is the number of tickets that each of the pools selects. It is nil without pools.
func (v View) Count(pools map[string]*pb.Pool) Population {
	if len(pools) == 0 {
		return nil
	}
	counts := make(Population, len(pools))
	set := make(bitset, len(v.ix.present))
	for name, p := range pools {
		v.ix.fill(set, p)
		counts[name] = int64(set.size())
	}
	return counts
}

// find returns a filter's column, which is nil if no ticket has the attribute, and its keys.
func (ix *Index) find(f *pb.Filter) (*column, interval) {
	if f.GetAttribute() == Created {
		return ix.created, stampsOf(f)
	}
	return ix.columns[f.GetAttribute()], intervalOf(f)
}

// Attributes returns the names of the attributes of the index's tickets, sorted. If there are more than limit, it
// returns those that most tickets have: tickets can have any number of names, and a reader needs memory for each.
func (v View) Attributes(limit int) []string {
	columns := make([]*column, 0, len(v.ix.columns))
	for _, c := range v.ix.columns {
		columns = append(columns, c)
	}
	slices.SortFunc(columns, func(a, b *column) int {
		return cmp.Or(cmp.Compare(b.uses, a.uses), cmp.Compare(a.name, b.name))
	})
	names := make([]string, 0, min(limit, len(columns)))
	for _, c := range columns[:min(limit, len(columns))] {
		names = append(names, c.name)
	}
	slices.Sort(names)
	return names
}

// Column writes an attribute's values to dst, for each ticket of a selection that was made in this view: NaN for
// tickets without one. dst is as long as the selection.
func (v View) Column(s *Selection, attribute string, dst []float64) {
	dst = dst[:min(len(dst), s.N())]
	c := v.ix.columns[attribute]
	switch {
	case attribute == Created:
		for i := range dst {
			dst[i] = float64(createdOf(v.ix.created.keys[s.slots[i]]))
		}
	case c != nil && c.dense:
		for i := range dst {
			dst[i] = value(c.keys[s.slots[i]])
		}
	default:
		for i := range dst {
			dst[i] = math.NaN()
		}
		if c != nil {
			c.scatter(s, dst)
		}
	}
}

// scatter writes a sparse column's values to the numbers of their tickets.
func (c *column) scatter(s *Selection, dst []float64) {
	for i, slot := range c.slots {
		if !s.union.has(slot) {
			continue
		}
		if n := int(s.numbers[slot]); n < len(dst) {
			dst[n] = value(c.keys[i])
		}
	}
}

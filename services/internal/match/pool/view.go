package pool

import (
	"math"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/segmentation"
)

// View is the index during a call of Index.View. It must not be used afterwards.
type View struct {
	ix   *Index
	work *Work // nil for no counting
	// queue is that whose tickets are selected; "" for those without queues. every has tickets of all queues instead.
	queue string
	every bool
}

// View calls f while the index does not change. Other views run at the same time, changes wait.
func (ix *Index) View(f func(View)) { ix.ViewFor(nil, f) }

// ViewFor is View for work that is counted, and ends early when it is late.
func (ix *Index) ViewFor(w *Work, f func(View)) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	f(View{ix: ix, work: w})
}

// Version changes with the index. A selection is still true in a later view of the same version.
func (v View) Version() uint64 { return v.ix.changes }

// Count is the number of tickets that each of the pools selects. It is nil without pools.
func (v View) Count(pools map[string]*pb.Pool) segmentation.Population {
	if len(pools) == 0 {
		return nil
	}
	counts := make(segmentation.Population, len(pools))
	set := make(bitset, len(v.ix.present))
	for name, p := range pools {
		v.fill(set, p, 0)
		counts[name] = int64(set.size())
	}
	return counts
}

// find returns a filter's column, which is nil if no ticket has the attribute, and its keys.
func (v View) find(f *pb.Filter) (*column, interval) {
	if f.GetAttribute() == Created {
		return v.ix.created, stampsOf(f)
	}
	return v.column(f.GetAttribute()), intervalOf(f)
}

// column returns an attribute's column, which is nil if no ticket has the attribute. If tickets keep its values, it
// makes one for this view.
func (v View) column(attribute string) *column {
	c := v.ix.columns[attribute]
	if c == nil && v.ix.spilled != nil {
		found, cells := v.ix.collect([]string{attribute})
		v.work.Count(cells)
		c = found[attribute]
	}
	if c == nil || c.uses == 0 {
		return nil
	}
	return c
}

// Column writes an attribute's values to dst, for each ticket of a selection that was made in this view: NaN for
// tickets without one. dst is as long as the selection.
func (v View) Column(s *Selection, attribute string, dst []float64) {
	dst = dst[:min(len(dst), s.N())]
	v.work.Count(len(dst))
	c := v.ix.created
	if attribute != Created {
		c = v.column(attribute)
	}
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
	const steps = 16 // of a search
	if s.N()*steps < len(c.slots) {
		for i := range dst {
			if at, found := slices.BinarySearch(c.slots, s.slots[i]); found {
				dst[i] = value(c.keys[at])
			}
		}
		return
	}
	for i, slot := range c.slots {
		if !s.union.has(slot) {
			continue
		}
		if n := int(s.numbers[slot]); n < len(dst) {
			dst[n] = value(c.keys[i])
		}
	}
}

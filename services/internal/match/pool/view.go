package pool

import (
	"math"
	"math/bits"
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

// Values writes an attribute's values to dst, for some tickets of a selection that any earlier view made: NaN for
// those without one, and for those that wait no more. dst is as long as numbers.
func (v View) Values(s *Selection, attribute string, numbers []uint32, dst []float64) {
	v.work.Count(len(numbers))
	c := v.column(attribute)
	for i, number := range numbers {
		dst[i] = math.NaN()
		if t := s.tickets[number]; c != nil && t != nil && v.has(t) {
			dst[i] = value(c.at(t.slot))
		}
	}
}

// has reports whether a ticket still waits.
func (v View) has(t *ticket) bool { return int(t.slot) < len(v.ix.slots) && v.ix.slots[t.slot] == t }

// at is the key of a slot.
func (c *column) at(slot uint32) uint64 {
	if c.dense {
		return c.keys[slot]
	}
	if i, found := slices.BinarySearch(c.slots, slot); found {
		return c.keys[i]
	}
	return absent
}

// Players is how many players a ticket has.
func (s *Selection) Players(number uint32) int {
	if !s.several {
		return 1
	}
	return 1 + s.tickets[number].more()
}

// Waiting calls f with each of these players that waits in a ticket of a selection, and the number of that ticket. With
// k it is also called for tickets that are kept, and the selection's numbers follow theirs. It takes time for the
// players, and for tickets of players that have several.
func (v View) Waiting(players map[uint64]bool, s *Selection, k *IncrementalSelection,
	f func(player uint64, number uint32)) {
	v.work.Count(len(players))
	if len(v.ix.players.of) == 0 {
		return
	}
	found := func(player uint64, slot uint32) {
		if number, ok := v.numberOf(slot, s, k); ok {
			f(player, number)
		}
	}
	twice := false
	for player := range players {
		switch n, waits := v.ix.players.of[player]; {
		case !waits:
		case n >= several:
			twice = true
		default:
			found(player, n)
		}
	}
	if !twice {
		return
	}
	for w, word := range v.ix.players.shared {
		v.work.Count(1)
		for ; word != 0; word &= word - 1 {
			slot := uint32(w*wordSlots + bits.TrailingZeros64(word))
			if t := v.ix.slots[slot]; t != nil && v.ix.present.has(slot) {
				v.work.Count(1)
				t.eachPlayer(func(player uint64) {
					if players[player] {
						found(player, slot)
					}
				})
			}
		}
	}
}

// numberOf is the number of the ticket in a slot, if it is selected or kept.
func (v View) numberOf(slot uint32, s *Selection, k *IncrementalSelection) (uint32, bool) {
	first := uint32(0)
	if k != nil {
		first = uint32(len(k.all.tickets))
	}
	switch {
	case int(slot)/wordSlots < len(s.union) && s.union.has(slot):
		return first + s.numbers[slot], true
	case k != nil && int(slot)/wordSlots < len(k.waiting) && k.waiting.has(slot):
		return k.numbers[slot], true
	}
	return 0, false
}

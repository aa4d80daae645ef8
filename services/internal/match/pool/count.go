package pool

import (
	"math"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// CountPlayers is what a filter counts that selects tickets by how many players they have. It is no attribute, so no
// client can set it.
const CountPlayers = "players"

// every is the interval of all values.
var every = interval{absent + 1, math.MaxUint64}

// size notes how many players a new ticket has, if there are several: of all others it is one.
func (ix *Index) size(t *ticket) {
	if t.group == nil || len(t.group.members) < 2 {
		return
	}
	ix.more += t.more()
	c := ix.sizes
	c.put(t.slot, key(float64(len(t.group.members))))
	if !c.dense && c.uses*denseAt >= len(ix.slots) {
		ix.spread(c)
	}
}

// unsize is the opposite of size.
func (ix *Index) unsize(t *ticket) {
	if t.group == nil || len(t.group.members) < 2 {
		return
	}
	ix.more -= t.more()
	ix.sizes.clear(t.slot)
	if ix.sizes.uses == 0 {
		ix.sparsen(ix.sizes)
		ix.sizes = &column{}
	}
}

// keepCount keeps the tickets of a set, from a word on, whose number of players passes a filter. Backfill tickets have
// no players, and all of them pass.
func (v View) keepCount(set bitset, first int, f *pb.Filter) {
	c, in := v.ix.sizes, intervalOf(f)
	switch {
	case f.GetCount() != CountPlayers: // of a later version
		clear(set[first:])
	case v.ix.uncounted:
	case !in.holds(key(1)):
		v.work.Count(c.keep(set, first, in))
	case c.uses > 0:
		several, pass := slices.Clone(set), slices.Clone(set)
		v.work.Count(c.keep(several, first, every) + c.keep(pass, first, in))
		for w := first; w < len(set); w++ {
			set[w] = set[w]&^several[w] | pass[w]
		}
	}
}

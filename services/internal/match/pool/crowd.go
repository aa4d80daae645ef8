package pool

import (
	"math"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Players are counted as tickets plus the players beyond the first. So tickets of one player cost nothing.

// more is how many more players than one a ticket has.
func (t *ticket) more() int {
	if t == nil || t.group == nil {
		return 0
	}
	return max(0, len(t.group.members)-1)
}

// AllPlayers is how many players all tickets have, including other queues.
func (v View) AllPlayers() int64 { return int64(len(v.ix.tickets) + v.ix.more) }

// QueuePlayers is how many players the tickets of some queues have, by the names of the queues. Queues whose tickets
// have one each are left out.
func (v View) QueuePlayers(queues map[string]int64) map[string]int64 {
	if v.ix.more == 0 {
		return nil
	}
	var counts map[string]int64
	for name := range queues {
		if q := v.ix.queues.by[name]; q != nil && q.more > 0 {
			if counts == nil {
				counts = map[string]int64{}
			}
			counts[name] = int64(q.uses + q.more)
		}
	}
	return counts
}

// PlayersOf is how many players some tickets have, 0 if each has one.
func (s *Selection) PlayersOf(numbers []uint32) int {
	if !s.several {
		return 0
	}
	more := 0
	for _, number := range numbers {
		more += s.tickets[number].more()
	}
	if more == 0 {
		return 0
	}
	return len(numbers) + more
}

// PlayersOf is how many players the tickets of a pool have, 0 if each has one.
func (k *IncrementalSelection) PlayersOf(name string) int {
	if !k.all.several {
		return 0
	}
	n, more := 0, 0
	for i := range k.pools {
		if p := &k.pools[i]; p.name == name {
			n = p.members.size()
			for _, slot := range p.members.appendTo(nil) {
				// Again leaves tickets that were proposed without a number.
				if number := k.numbers[slot]; int(number) < len(k.all.slots) && k.all.slots[number] == slot {
					more += k.all.tickets[number].more()
				}
			}
		}
	}
	if more == 0 {
		return 0
	}
	return n + more
}

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

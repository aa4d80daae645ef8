package pool

import (
	"cmp"
	"hash/maphash"
	"maps"
	"math/bits"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// listCells is how many values a ticket counts as that a list looks at beside filters.
const listCells = 8

// List lists the oldest tickets of a queue that are asked for, in the order of their creation. Unlike Select, it has
// all tickets of a player. Segmentations are ignored. When the work is late, what it returns is of no use.
func (v View) List(pools map[string]*pb.Pool, l *pb.Listing) *pb.Listed {
	v.every = l.GetEveryQueue()
	set := make(bitset, len(v.ix.present))
	if len(pools) == 0 {
		v.fill(set, &pb.Pool{Filters: l.GetFilters()}, 0)
	}
	one := make(bitset, len(v.ix.present))
	for _, p := range pools {
		v.fill(one, &pb.Pool{Filters: slices.Concat(p.GetFilters(), l.GetFilters())}, 0)
		for w, word := range one {
			set[w] |= word
		}
	}
	if l.GetPlayer() != "" {
		v.keepPlayer(set, l.GetPlayer())
	}
	listed := &pb.Listed{Total: int64(set.size())}
	if l.GetSample() {
		v.thin(set, max(1, int(l.GetLimit())))
	}
	slots, more := v.oldest(set, l)
	listed.More = more
	for _, slot := range slots {
		listed.Tickets = append(listed.Tickets, v.ix.slots[slot].id)
		listed.LastCreated = createdOf(v.ix.created.keys[slot])
	}
	if l.GetQueues() > 0 {
		listed.Queues = v.countQueues(int(l.GetQueues()), l.GetServed())
	}
	return listed
}

// thin leaves so many of a set, or fewer, evenly.
func (v View) thin(set bitset, limit int) {
	all := set.appendTo(nil)
	v.work.Count(len(all))
	for i, slot := range all {
		if i*limit%len(all) >= limit {
			set.remove(slot)
		}
	}
}

// countQueues counts the tickets of up to so many queues, served ones first, and those without queues.
func (v View) countQueues(limit int, served []string) (counted []*pb.QueueCount) {
	v.every = false
	set := make(bitset, len(v.ix.present))
	for _, name := range append(slices.Sorted(maps.Keys(v.Queues(limit, served...))), "") {
		in := v.In(name)
		in.fill(set, &pb.Pool{}, 0)
		slots, _ := in.oldest(set, &pb.Listing{Limit: 1})
		if len(slots) == 0 {
			continue
		}
		one := &pb.QueueCount{Queue: name, Tickets: int64(set.size()), Oldest: createdOf(v.ix.created.keys[slots[0]])}
		one.Players = one.Tickets
		if v.ix.more > 0 {
			for _, slot := range set.appendTo(nil) {
				one.Players += int64(v.ix.slots[slot].more())
			}
		}
		counted = append(counted, one)
	}
	return counted
}

// keepPlayer keeps the tickets of a player.
func (v View) keepPlayer(set bitset, name string) {
	p := &v.ix.players
	player := maphash.String(p.seed, name)
	at, known := p.of[player]
	switch {
	case !known:
		clear(set)
	case at < several:
		has := set.has(at)
		clear(set)
		if has {
			set.add(at)
		}
	default:
		for w := range set {
			for word := set[w]; word != 0; word &= word - 1 {
				slot, is := uint32(w*wordSlots+bits.TrailingZeros64(word)), false
				if p.shared.has(slot) {
					v.work.Count(listCells)
					v.ix.slots[slot].eachPlayer(func(one uint64) { is = is || one == player })
				}
				if !is {
					set.remove(slot)
				}
			}
		}
	}
}

// oldest returns the oldest of a set behind the place of a list, in order.
func (v View) oldest(set bitset, l *pb.Listing) (slots []uint32, more bool) {
	limit := max(1, int(l.GetLimit()))
	keys := v.ix.created.keys
	order := func(a, b uint32) int {
		return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(v.ix.slots[a].id, v.ix.slots[b].id))
	}
	after := uint64(0)
	if l.GetAfter() != "" {
		after = stamp(l.GetAfterCreated(), l.GetAfter())
	}
	// One more than the limit is kept, to know whether there are more.
	keep := func() {
		slices.SortFunc(slots, order)
		slots = slots[:min(len(slots), limit+1)]
	}
	full := false
	for w, word := range set {
		if w%(lateStep/wordSlots) == 0 && v.work.Late() {
			return nil, false
		}
		v.work.Count(listCells * popcount(word))
		for ; word != 0; word &= word - 1 {
			slot := uint32(w*wordSlots + bits.TrailingZeros64(word))
			if keys[slot] < after || keys[slot] == after && v.ix.slots[slot].id <= l.GetAfter() ||
				full && order(slot, slots[limit]) > 0 {
				continue
			}
			if slots = append(slots, slot); len(slots) >= 2*(limit+1) {
				keep()
				full = true
			}
		}
	}
	keep()
	if len(slots) > limit {
		return slots[:limit], true
	}
	return slots, false
}

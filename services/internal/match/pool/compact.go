package pool

import (
	"cmp"
	"maps"
	"slices"
)

// tidy compacts the index when holes outnumber tickets.
func (ix *Index) tidy() {
	if len(ix.slots) > 2*len(ix.tickets)+slackSlots {
		ix.compact()
	}
}

// compact closes the holes and sorts the slots by stamp. It takes time proportional to the slots. At least half of them
// were dropped since the last time.
func (ix *Index) compact() {
	live := ix.present.appendTo(nil)
	ix.sorter.sort(live, ix.created.keys, ix.slots)

	moved := make([]uint32, len(ix.slots)) // old slot → new slot
	slots := make([]*ticket, len(live))
	for to, at := range live {
		slots[to] = ix.slots[at]
		slots[to].slot = uint32(to)
		moved[at] = uint32(to)
	}
	crowd := ix.most > 4*len(slots)+slackSlots
	ix.movePlayers(live, crowd)
	if crowd {
		ix.most = len(slots)
		ix.tickets = maps.Collect(maps.All(ix.tickets)) // a Go map does not shrink
		ix.traced = maps.Collect(maps.All(ix.traced))
		ix.sorter = sorter{}
	}
	ix.slots = slots
	ix.changes++
	ix.moves++

	words := (len(live) + wordSlots - 1) / wordSlots
	ix.present = trim(ix.present[:words])
	for w := range ix.present {
		ix.present[w] = ^uint64(0)
	}
	if rest := len(live) % wordSlots; rest != 0 {
		ix.present[words-1] = 1<<rest - 1
	}

	ix.respill()
	ix.queues.move(ix.slots)
	ix.created.pick(live, words)
	for _, c := range ix.columns {
		c.follow(live, words, moved)
	}
	ix.sizes.follow(live, words, moved)
}

// follow follows tickets to their new slots: the n-th of live is the old slot of the ticket in slot n.
func (c *column) follow(live []uint32, words int, moved []uint32) {
	if c.dense {
		c.pick(live, words)
	} else {
		c.move(moved)
	}
}

// pick makes a dense column of the keys in these slots.
func (c *column) pick(slots []uint32, words int) {
	keys := make([]uint64, words*wordSlots)
	for to, at := range slots {
		keys[to] = c.keys[at]
	}
	c.keys = keys
}

// move renames a sparse column's slots.
func (c *column) move(to []uint32) {
	c.sweep()
	for i, slot := range c.slots {
		c.slots[i] = to[slot]
	}
	if slices.IsSorted(c.slots) {
		return
	}
	type entry struct {
		slot uint32
		key  uint64
	}
	entries := make([]entry, len(c.slots))
	for i, slot := range c.slots {
		entries[i] = entry{slot, c.keys[i]}
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.slot, b.slot) })
	for i, e := range entries {
		c.slots[i], c.keys[i] = e.slot, e.key
	}
}

package pool

import (
	"slices"
	"sync/atomic"
)

// A column becomes dense when a quarter of the slots has a value, and sparse again when less than an eighth has.
// Between the two it stays as it is, so that conversions are rare. At a fifth both scans take the same time. A dense
// column costs at most 64 bytes a value.
const (
	denseAt  = 4
	sparseAt = 8
)

// column holds the keys of one attribute.
type column struct {
	name string
	// keys is indexed by slot when the column is dense, and beside slots when it is sparse.
	keys []uint64
	// slots is in ascending order. It also lists slots that were cleared; their key is absent.
	slots []uint32
	dense bool
	uses  int
	// asked is when a run asked for the attribute last, in Unix seconds: see Index.Use. 0 is never.
	asked atomic.Int64
}

// put sets the value of the newest slot. It tells whether the slot had none before.
func (c *column) put(slot uint32, k uint64) bool {
	if c.dense {
		fresh := c.keys[slot] == absent
		c.keys[slot] = k
		if fresh {
			c.uses++
		}
		return fresh
	}
	if n := len(c.slots); n > 0 && c.slots[n-1] == slot {
		c.keys[n-1] = k
		return false
	}
	c.slots = append(c.slots, slot)
	c.keys = append(c.keys, k)
	c.uses++
	return true
}

// clear removes the value of a slot that has one.
func (c *column) clear(slot uint32) {
	c.uses--
	if c.dense {
		c.keys[slot] = absent
		return
	}
	if i, found := slices.BinarySearch(c.slots, slot); found {
		c.keys[i] = absent // the slot itself stays listed until the index is compacted
	}
}

// sweep removes the cleared slots of a sparse column.
func (c *column) sweep() {
	n := 0
	for i, k := range c.keys {
		if k != absent {
			c.slots[n], c.keys[n] = c.slots[i], k
			n++
		}
	}
	c.slots, c.keys = trim(c.slots[:n]), trim(c.keys[:n])
}

// spread makes a sparse column dense, for so many slots.
func (c *column) spread(slots int) {
	keys := make([]uint64, slots)
	for i, slot := range c.slots {
		keys[slot] = c.keys[i]
	}
	c.keys, c.slots, c.dense = keys, nil, true
}

// condense makes a dense column sparse.
func (c *column) condense() {
	slots, keys := make([]uint32, 0, c.uses), make([]uint64, 0, c.uses)
	for slot, k := range c.keys {
		if k != absent {
			slots, keys = append(slots, uint32(slot)), append(keys, k)
		}
	}
	c.keys, c.slots, c.dense = keys, slots, false
}

// keep keeps those bits of set, from a word on, whose slot has a key in the interval. It returns how many keys it saw.
func (c *column) keep(set bitset, first int, in interval) (cells int) {
	if c.dense {
		keys := c.keys[min(first*wordSlots, len(c.keys)):]
		set[first:].keep(keys, in)
		return len(keys)
	}
	at, _ := slices.BinarySearch(c.slots, uint32(first*wordSlots))
	set.keepSparse(first, c.slots[at:], c.keys[at:], in)
	return len(c.keys) - at
}

// trim frees memory that a much longer slice once needed.
func trim[T any](s []T) []T {
	if cap(s) > 4*len(s)+wordSlots {
		return slices.Clone(s)
	}
	return s
}

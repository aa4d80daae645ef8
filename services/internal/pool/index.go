package pool

import (
	"slices"
	"sync"
)

// Created is the attribute of every ticket's creation time, in Unix milliseconds. A ticket's own attribute of that name
// is ignored.
const Created = "created"

// slackSlots is how many more holes than tickets an index has when it is compacted.
const slackSlots = 1024

// Index holds the waiting tickets of one project. It is safe for concurrent use: changes exclude each other and views,
// views do not exclude each other.
type Index struct {
	mu      sync.RWMutex
	tickets map[string]*ticket
	// slots has the ticket of each slot, nil for a hole; present has a bit for each ticket.
	slots   []*ticket
	present bitset
	// created is the column of stamps. It is always dense, and not in columns.
	created *column
	columns map[string]*column
	dense   []*column
	// traced are the spans of the tickets that are sampled.
	traced map[*ticket]string

	body   body
	uses   []*column
	sorter sorter
}

// ticket is what the index keeps of a ticket beside its columns. Only its slot ever changes, so that a selection may
// read the rest without a lock.
type ticket struct {
	id         string
	properties []Property
	columns    []*column
	slot       uint32
}

// New returns an empty index.
func New() *Index {
	ix := &Index{}
	ix.reset()
	return ix
}

func (ix *Index) reset() {
	ix.tickets = map[string]*ticket{}
	ix.slots, ix.present = nil, nil
	ix.created = &column{name: Created, dense: true}
	ix.columns = map[string]*column{}
	ix.dense = nil
	ix.traced = nil
	ix.uses = nil
}

// Reset removes all tickets.
func (ix *Index) Reset() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.reset()
}

// Len is the number of tickets.
func (ix *Index) Len() int {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	return len(ix.tickets)
}

// Put adds the ticket with this id, or replaces it. raw is a marshalled pb.Ticket. The index keeps id, and copies what
// it needs of raw. If raw is damaged, Put returns an error and changes nothing.
//
// Values that are NaN are ignored. Of several values of one attribute the last one wins.
func (ix *Index) Put(id string, raw []byte) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err := ix.body.decode(raw); err != nil {
		return err
	}
	properties, err := ix.body.propertyList()
	if err != nil {
		return err
	}
	ix.drop(id)
	t := &ticket{id: id, properties: properties, slot: ix.grow()}
	ix.slots[t.slot] = t
	ix.present.add(t.slot)
	ix.created.put(t.slot, stamp(ix.body.created, id))
	t.columns = ix.putValues(t.slot)
	ix.tickets[id] = t
	if len(ix.body.trace) > 0 {
		ix.trace(t, string(ix.body.trace))
	}
	ix.tidy()
	return nil
}

// grow adds a slot at the end.
func (ix *Index) grow() uint32 {
	slot := len(ix.slots)
	ix.slots = append(ix.slots, nil)
	if slot%wordSlots == 0 {
		ix.present = append(ix.present, 0)
		ix.created.keys = append(ix.created.keys, make([]uint64, wordSlots)...)
		ix.thin()
		for _, c := range ix.dense {
			c.keys = append(c.keys, make([]uint64, wordSlots)...)
		}
	}
	return uint32(slot)
}

// thin makes the dense columns sparse that too few tickets use.
func (ix *Index) thin() {
	ix.dense = slices.DeleteFunc(ix.dense, func(c *column) bool {
		if c.uses*sparseAt >= len(ix.slots) {
			return false
		}
		c.condense()
		return true
	})
}

// putValues puts the decoded attributes into their columns, and returns these.
func (ix *Index) putValues(slot uint32) []*column {
	ix.uses = ix.uses[:0]
	for i, name := range ix.body.names {
		k := key(ix.body.values[i])
		if k == absent || string(name) == Created {
			continue
		}
		c := ix.columns[string(name)]
		if c == nil {
			c = &column{name: string(name)}
			ix.columns[c.name] = c
		}
		if !c.put(slot, k) {
			continue
		}
		ix.uses = append(ix.uses, c)
		if !c.dense && c.uses*denseAt >= len(ix.slots) {
			c.spread(len(ix.present) * wordSlots)
			ix.dense = append(ix.dense, c)
		}
	}
	// Most tickets have the same attributes as the one before them: share the list.
	if slot > 0 {
		if last := ix.slots[slot-1]; last != nil && slices.Equal(last.columns, ix.uses) {
			return last.columns
		}
	}
	return slices.Clone(ix.uses)
}

// Drop removes a ticket, and tells whether it was there.
func (ix *Index) Drop(id string) bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if !ix.drop(id) {
		return false
	}
	ix.tidy()
	return true
}

func (ix *Index) drop(id string) bool {
	t := ix.tickets[id]
	if t == nil {
		return false
	}
	delete(ix.tickets, id)
	if len(ix.traced) > 0 {
		delete(ix.traced, t)
	}
	ix.slots[t.slot] = nil
	ix.present.remove(t.slot)
	ix.created.clear(t.slot)
	for _, c := range t.columns {
		c.clear(t.slot)
		if c.uses == 0 {
			ix.forget(c)
		}
	}
	return true
}

// forget removes a column that no ticket uses.
func (ix *Index) forget(c *column) {
	delete(ix.columns, c.name)
	if i := slices.Index(ix.dense, c); i >= 0 {
		ix.dense = slices.Delete(ix.dense, i, i+1)
	}
}

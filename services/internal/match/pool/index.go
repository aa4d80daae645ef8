package pool

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// DefaultNames is how many columns an index has by default.
const DefaultNames = 1024

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
	// maxNames is how many columns there may be beside those that are pinned.
	maxNames int
	// spilled has a bit for each of the spills tickets with values without a column; nil when there is none. While there
	// is one, only Use makes columns.
	spilled bitset
	spills  int
	// recent are column lists that tickets share, and last is where the latest is.
	recent [8]*columnList
	last   int
	// changes counts the changes, so that a selection knows whether it is still true.
	changes uint64
	// moves counts how often the tickets' slots changed. Meanwhile new tickets have slots behind all others, and no slot
	// gets another ticket: see IncrementalSelection.
	moves uint64
	// ticketBytes is about how many bytes the tickets take beside their columns.
	ticketBytes int
	swept       int64 // when pins were removed last, in Unix seconds
	most        int   // tickets since the maps were made
	// traced are the spans of the tickets that are sampled.
	traced map[*ticket]string
	// queues are those that tickets wait in.
	queues  queues
	players players
	// groups is how many tickets have a group. owners is set if the ids of owners are kept.
	groups int
	owners bool
	// more is how many more players than tickets there are.
	more int
	// sizes has how many players the tickets of several have. uncounted is set for backfill tickets, which have none.
	sizes     *column
	uncounted bool

	body   pb.Ticket // the last one that was decoded, for its memory
	names  interner
	uses   []*column
	sorter sorter
}

// ticket is what the index keeps of a ticket beside its columns. Its id and properties never change, so that a
// selection may read them without a lock.
type ticket struct {
	id         string
	properties []Property
	list       *columnList
	rest       string // values without a column: see rest.go
	queues     *queueList
	slot       uint32
	// player is the only player, 0 if there is none. If there is a group, that has the players.
	player uint64
	group  *group
}

// columnList is the columns in which some tickets have values. It is not changed while a ticket has it.
type columnList struct {
	columns []*column
	tickets int
}

// New returns an empty index.
func New() *Index { return NewSized(DefaultNames) }

// NewSized returns an empty index with columns for so many names of attributes.
func NewSized(names int) *Index {
	ix := &Index{maxNames: names}
	ix.reset()
	return ix
}

func (ix *Index) reset() {
	ix.tickets = map[string]*ticket{}
	ix.slots, ix.present = nil, nil
	ix.created = &column{name: Created, dense: true}
	ix.columns = map[string]*column{}
	ix.dense = nil
	ix.spilled, ix.spills, ix.recent, ix.last = nil, 0, [len(ix.recent)]*columnList{}, 0
	ix.most, ix.ticketBytes, ix.groups, ix.more, ix.sizes = 0, 0, 0, 0, &column{}
	ix.traced = nil
	ix.queues = queues{}
	ix.players = players{seed: maphash.MakeSeed(), of: map[uint64]uint32{}}
	ix.uses = nil
	ix.names = interner{}
	ix.changes++
	ix.moves++
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

// Put adds the ticket with this id, or replaces it. raw is a marshalled pb.Ticket, of which the index keeps nothing. If
// it is damaged, Put returns an error and changes nothing.
func (ix *Index) Put(id string, raw []byte) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	b := &ix.body
	names, values, properties := b.AttributeNames[:0], b.AttributeValues[:0], b.Properties
	clear(properties)
	proto.Reset(b)
	b.AttributeNames, b.AttributeValues, b.Properties = names, values, properties
	if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(raw, b); err != nil {
		return fmt.Errorf("ticket body: %w", err)
	}
	return ix.put(id, b)
}

// PutTicket is Put for a decoded ticket, which must not be changed afterwards.
//
// Values that are NaN are ignored. Of several values of one attribute the last one wins.
func (ix *Index) PutTicket(id string, body *pb.Ticket) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	return ix.put(id, body)
}

func (ix *Index) put(id string, body *pb.Ticket) error {
	if err := checkBody(body); err != nil {
		return err
	}
	ix.drop(id)
	t := &ticket{id: id, properties: ix.names.properties(body.GetProperties()), slot: ix.grow()}
	ix.slots[t.slot] = t
	ix.present.add(t.slot)
	ix.created.put(t.slot, stamp(body.GetCreated(), id))
	ix.putValues(t, body)
	ix.tickets[id] = t
	ix.most = max(ix.most, len(ix.tickets))
	ix.join(t, body)
	ix.size(t)
	ix.ticketBytes += t.bytes()
	ix.changes++
	if len(body.GetQueues()) > 0 {
		ix.queues.enter(t, body.GetQueues())
	}
	if len(body.GetTrace()) > 0 {
		ix.trace(t, string(body.GetTrace()))
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
		if ix.spilled != nil {
			ix.spilled = append(ix.spilled, 0)
		}
		if ix.players.shared != nil {
			ix.players.shared = append(ix.players.shared, 0)
		}
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

// putValues puts the attributes of a new ticket into their columns. Those without a column stay with it.
func (ix *Index) putValues(t *ticket, body *pb.Ticket) {
	ix.uses = ix.uses[:0]
	var rest []byte
	latest := ""
	for i, name := range body.GetAttributeNames() {
		k := key(body.GetAttributeValues()[i])
		if k == absent || name == Created {
			continue
		}
		c := ix.columns[name]
		if c == nil && (ix.spilled != nil || len(ix.columns) >= ix.maxNames) {
			// Another ticket may keep values of this name already: a column has all of them or does not exist.
			if name <= latest { // it may be there already; the service sorts names
				rest = withoutRest(rest, name)
			}
			rest = appendRest(rest, name, k)
			latest = max(latest, name)
			continue
		}
		if c == nil {
			c = &column{name: name}
			ix.columns[c.name] = c
		}
		if !c.put(t.slot, k) {
			continue
		}
		ix.uses = append(ix.uses, c)
		if !c.dense && c.uses*denseAt >= len(ix.slots) {
			ix.spread(c)
		}
	}
	ix.enlist(t, ix.uses)
	if len(rest) > 0 {
		ix.spill(t, string(rest))
	}
}

// spread makes a column dense.
func (ix *Index) spread(c *column) {
	c.spread(len(ix.present) * wordSlots)
	ix.dense = append(ix.dense, c)
}

// enlist notes the columns of a ticket, which has none yet. Tickets share lists: most have the same attributes as one
// of the last before them.
func (ix *Index) enlist(t *ticket, columns []*column) {
	t.list = ix.findList(columns)
	if t.list == nil {
		t.list = &columnList{columns: slices.Clone(columns)}
		ix.last = (ix.last + 1) % len(ix.recent)
		ix.recent[ix.last] = t.list
		ix.ticketBytes += t.list.bytes()
	}
	t.list.tickets++
}

func (ix *Index) findList(columns []*column) *columnList {
	for i := range ix.recent {
		at := (ix.last + i) % len(ix.recent)
		if l := ix.recent[at]; l != nil && l.tickets > 0 && slices.Equal(l.columns, columns) {
			ix.last = at
			return l
		}
	}
	return nil
}

// unlist gives up a ticket's list.
func (ix *Index) unlist(t *ticket) {
	if t.list.tickets--; t.list.tickets == 0 {
		ix.ticketBytes -= t.list.bytes()
	}
	t.list = nil
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
	ix.leave(t)
	ix.unsize(t)
	if len(ix.traced) > 0 {
		delete(ix.traced, t)
	}
	ix.slots[t.slot] = nil
	ix.present.remove(t.slot)
	ix.created.clear(t.slot)
	ix.ticketBytes -= t.bytes()
	for _, c := range t.list.columns {
		c.clear(t.slot)
		if c.uses == 0 && c.asked.Load() == 0 {
			ix.forget(c)
		}
	}
	ix.unlist(t)
	ix.spill(t, "")
	if t.queues != nil {
		ix.queues.leave(t)
	}
	ix.changes++
	return true
}

// forget removes a column that no ticket uses.
func (ix *Index) forget(c *column) {
	delete(ix.columns, c.name)
	ix.sparsen(c)
}

// sparsen removes a column from the dense ones.
func (ix *Index) sparsen(c *column) {
	if i := slices.Index(ix.dense, c); i >= 0 {
		ix.dense = slices.Delete(ix.dense, i, i+1)
	}
}

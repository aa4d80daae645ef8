package pool

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// queues are the queues of an index's tickets. Tickets without queues take nothing here.
//
// Whatever names players invent, the memory is proportional to what their tickets hold: a queue that few tickets wait
// in lists their slots, and has a bit for each slot when that takes no more. A queue without tickets is removed.
type queues struct {
	by map[string]*queue
	// lists are what the tickets have, by their names. Tickets of the same queues share one.
	lists map[string]*queueList
	// all has a bit for each ticket that waits in any queue. It may be shorter than the index.
	all     bitset
	tickets int
	// crossing counts the tickets of several queues.
	crossing int
	key      []byte
}

// queue is the tickets that wait in one queue.
type queue struct {
	name  string
	slots []uint32 // ascending, while it is sparse
	set   bitset   // while it is dense; it may be shorter than the index
	uses  int
	more  int // players than tickets
}

// queueList is the queues of some tickets. It is not changed while a ticket has it.
type queueList struct {
	key     string
	queues  []*queue
	tickets int
}

// crossing is what a ticket of the list adds to the count of tickets of several queues.
func (l *queueList) crossing() int { return min(len(l.queues)-1, 1) }

// A queue becomes dense when its list takes as much memory as a bit for each slot, and sparse again at a quarter of
// that.
const (
	denseQueue  = 32
	sparseQueue = 4 * denseQueue
)

// enter adds a new ticket, whose slot is the newest.
func (q *queues) enter(t *ticket, names []string) {
	q.key = q.key[:0]
	for _, name := range names {
		q.key = append(binary.AppendUvarint(q.key, uint64(len(name))), name...)
	}
	l := q.lists[string(q.key)]
	if l == nil {
		if q.by == nil {
			q.by, q.lists = map[string]*queue{}, map[string]*queueList{}
		}
		l = &queueList{key: string(q.key)}
		for _, name := range names {
			one := q.by[name]
			if one == nil {
				one = &queue{name: name}
				q.by[name] = one
			}
			if !slices.Contains(l.queues, one) {
				l.queues = append(l.queues, one)
			}
		}
		q.lists[l.key] = l
	}
	l.tickets++
	t.queues = l
	q.tickets, q.crossing = q.tickets+1, q.crossing+l.crossing()
	q.add(t)
}

// add notes the slot of a ticket, which is greater than all others.
func (q *queues) add(t *ticket) {
	q.all = q.all.with(t.slot)
	for _, one := range t.queues.queues {
		one.uses, one.more = one.uses+1, one.more+t.more()
		if one.set != nil {
			one.set = one.set.with(t.slot)
			continue
		}
		one.slots = append(one.slots, t.slot)
		if len(one.slots) > wordSlots && len(one.slots)*denseQueue > int(t.slot) {
			for _, slot := range one.slots {
				one.set = one.set.with(slot)
			}
			one.slots = nil
		}
	}
}

// leave removes a ticket.
func (q *queues) leave(t *ticket) {
	q.all.remove(t.slot)
	for _, one := range t.queues.queues {
		one.more -= t.more()
		if one.uses--; one.uses == 0 {
			one.slots, one.set = nil, nil
			continue
		}
		if one.set == nil {
			if i, found := slices.BinarySearch(one.slots, t.slot); found {
				one.slots = slices.Delete(one.slots, i, i+1)
			}
			continue
		}
		one.set.remove(t.slot)
		if one.uses*sparseQueue < len(one.set)*wordSlots {
			one.slots, one.set = one.set.appendTo(nil), nil
		}
	}
	l := t.queues
	t.queues = nil
	if l.tickets--; l.tickets == 0 {
		delete(q.lists, l.key)
		for _, one := range l.queues {
			if one.uses == 0 {
				delete(q.by, one.name)
			}
		}
	}
	q.crossing -= l.crossing()
	if q.tickets--; q.tickets == 0 {
		*q = queues{}
	}
}

// move notes the new slots of all tickets.
func (q *queues) move(tickets []*ticket) {
	if q.tickets == 0 {
		return
	}
	q.all = nil
	for _, one := range q.by {
		one.slots, one.set, one.uses, one.more = nil, nil, 0, 0
	}
	for _, t := range tickets {
		if t.queues != nil {
			q.add(t)
		}
	}
	q.by, q.lists = maps.Collect(maps.All(q.by)), maps.Collect(maps.All(q.lists)) // a Go map does not shrink
}

// bytes is about how many bytes the queues take.
func (q *queues) bytes() int {
	n := 8 * cap(q.all)
	for _, one := range q.by {
		n += columnOverhead + roundUp(len(one.name)) + 4*cap(one.slots) + 8*cap(one.set)
	}
	for _, l := range q.lists {
		n += columnOverhead + roundUp(len(l.key)) + 8*len(l.queues)
	}
	return n
}

// with adds a member, and makes the set as long as that takes.
func (s bitset) with(member uint32) bitset {
	for len(s) <= int(member/wordSlots) {
		s = append(s, 0)
	}
	s.add(member)
	return s
}

// In returns a view of the tickets of one queue: Select and Count find no others. Of the queue "" are the tickets that
// wait in no queue, which every view has that is of no other.
func (v View) In(queue string) View {
	v.queue = queue
	return v
}

// start makes set the slots of the view's queue, from a word of the bitmap on.
func (v View) start(set bitset, first int) {
	q := &v.ix.queues
	if v.every {
		copy(set, v.ix.present[first:])
		return
	}
	if v.queue == "" {
		copy(set, v.ix.present[first:])
		for w, word := range q.all[min(first, len(q.all)):] {
			set[w] &^= word
		}
		return
	}
	clear(set)
	one := q.by[v.queue]
	if one == nil {
		return
	}
	copy(set, one.set[min(first, len(one.set)):])
	from, _ := slices.BinarySearch(one.slots, uint32(first*wordSlots))
	for _, slot := range one.slots[from:] {
		set.add(slot - uint32(first*wordSlots))
	}
}

// Crossing is how many tickets wait in several queues.
func (v View) Crossing() int64 { return int64(v.ix.queues.crossing) }

// MostQueues is of how many queues the sizes are told: players invent names.
const MostQueues = 256

// Queues returns how many tickets wait in each queue, of at most so many queues: the first ones that are given, and
// then those with the most. A ticket of several queues counts in each. It is nil when no ticket waits in a queue.
func (v View) Queues(limit int, first ...string) map[string]int64 {
	q := &v.ix.queues
	if q.tickets == 0 {
		return nil
	}
	all := slices.Collect(maps.Values(q.by))
	counts := make(map[string]int64, min(len(all), limit))
	for _, name := range first {
		if one := q.by[name]; one != nil && len(counts) < limit {
			counts[name] = int64(one.uses)
		}
	}
	if len(all) > limit {
		slices.SortFunc(all, func(a, b *queue) int {
			return cmp.Or(cmp.Compare(b.uses, a.uses), cmp.Compare(a.name, b.name))
		})
	}
	for _, one := range all {
		if len(counts) == limit {
			break
		}
		counts[one.name] = int64(one.uses)
	}
	return counts
}

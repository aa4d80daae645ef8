package pool

import (
	"maps"
	"math/bits"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// IncrementalSelection is a selection that goes on from run to run. It finds out what changed in time for the changes,
// and a little for each 64 slots of the index. Tickets keep their numbers: those that come later have greater ones.
// Numbers of tickets that are gone are not used again.
//
// The zero IncrementalSelection is empty. It is for one goroutine at a time, and holds on to its tickets.
type IncrementalSelection struct {
	index  *Index
	moves  uint64
	looked int // slots of the index that were looked at

	all     Selection // tickets, slots and spans by number; no ticket for those that are gone
	created []float64 // by number
	numbers []uint32  // by slot
	waiting bitset    // slots of the tickets that wait, without those that were proposed
	live    int       // the size of waiting
	pools   []incrementalPool
	// proposed are the slots of tickets that were proposed. Those that still wait later were not matched.
	proposed []uint32
	// hidden are tickets of the pools that share a player with one that waits. They are looked at again in each run.
	hidden []hiddenSlot

	// What Advance found, until Commit.
	seen   int
	gone   []uint32
	shared []uint32 // numbers of tickets that share a player with others that wait
}

// incrementalPool is a pool of tickets that are kept.
type incrementalPool struct {
	name    string
	members bitset // slots, also of those that were proposed
	// byAge is a heap of numbers, the oldest ticket first, also of some that are gone.
	byAge []uint32
}

// Keep makes k of a selection that was made in this view.
func (v View) Keep(s *Selection, k *IncrementalSelection) {
	*k = IncrementalSelection{index: v.ix, moves: v.ix.moves, looked: len(v.ix.slots), hidden: slices.Clone(s.hidden)}
	for i, p := range s.pools {
		k.pools = append(k.pools, incrementalPool{name: p.name, members: slices.Clone(s.set(i))})
	}
	k.renumber(v, s)
}

// renumber gives the tickets the numbers that they have in a selection of all that wait.
func (k *IncrementalSelection) renumber(v View, s *Selection) {
	k.all = Selection{tickets: slices.Clone(s.tickets), slots: slices.Clone(s.slots), shared: slices.Clone(s.shared),
		traced: map[uint32]string{}, several: s.several}
	maps.Copy(k.all.traced, s.traced)
	k.numbers = make([]uint32, len(v.ix.slots))
	k.waiting, k.live = slices.Clone(s.union), s.N()
	k.created = make([]float64, s.N())
	for number, slot := range s.slots {
		k.numbers[slot] = uint32(number)
		k.created[number] = float64(createdOf(v.ix.created.keys[slot]))
	}
	for i := range k.pools {
		k.pools[i].byAge = slices.Clone(s.Pool(k.pools[i].name)) // ascending, and so a heap
	}
}

// Advance makes s the tickets that are new since k was made or committed, and notes which are gone. The pools must be
// those that k was made with. What was proposed and still waits is new. Advance returns false if k is of no use any
// more: then s is undefined. Columns of s must be read within the view.
func (v View) Advance(pools map[string]*pb.Pool, s *Selection, k *IncrementalSelection) bool {
	if k.index != v.ix || k.moves != v.ix.moves || len(pools) != len(k.pools) {
		return false
	}
	k.seen = len(v.ix.slots)
	v.match(pools, s, k.looked)
	for _, slot := range k.proposed {
		if !v.ix.present.has(slot) {
			continue
		}
		if len(pools) == 0 {
			s.union.add(slot)
		}
		for i := range k.pools {
			if k.pools[i].members.has(slot) {
				s.set(i).add(slot)
			}
		}
	}
	for _, h := range k.hidden { // the tickets that hid them may be gone
		switch {
		case !v.ix.present.has(h.slot):
		case h.pool < 0:
			s.union.add(h.slot)
		default:
			s.set(h.pool).add(h.slot)
		}
	}
	v.finish(s, k)
	if s.overtakes {
		return false // a ticket that is kept has to be hidden
	}
	v.work.Count(len(k.waiting))
	k.gone = k.gone[:0]
	for w, word := range k.waiting {
		for word &^= v.ix.present[w]; word != 0; word &= word - 1 {
			k.gone = append(k.gone, k.numbers[w*wordSlots+bits.TrailingZeros64(word)])
		}
	}
	slices.Sort(k.gone)
	k.shared = k.shared[:0]
	for w, word := range v.ix.players.shared[:min(len(v.ix.players.shared), len(k.waiting))] {
		for word &= k.waiting[w]; word != 0; word &= word - 1 {
			k.shared = append(k.shared, k.numbers[w*wordSlots+bits.TrailingZeros64(word)])
		}
	}
	return true
}

// Gone is the numbers of the tickets that Advance found gone, in ascending order.
func (k *IncrementalSelection) Gone() []uint32 { return k.gone }

// Next is how many tickets there will be after Commit of a selection.
func (k *IncrementalSelection) Next(s *Selection) int { return k.live - len(k.gone) + s.N() }

// Commit adds the tickets of s, which Advance found, and removes those that are gone. created are the times when the
// tickets of s were created.
func (k *IncrementalSelection) Commit(s *Selection, created []float64) {
	for _, number := range k.gone {
		k.waiting.remove(k.all.slots[number])
		k.live--
		k.forget(number)
	}
	for _, slot := range k.proposed {
		if number := k.numbers[slot]; int(number) < len(k.all.slots) && k.all.slots[number] == slot {
			k.forget(number)
			continue
		}
		for i := range k.pools { // Again left it without a number
			k.pools[i].members.remove(slot)
		}
	}
	k.gone, k.proposed, k.looked = k.gone[:0], k.proposed[:0], k.seen
	k.hidden = append(k.hidden[:0], s.hidden...)

	first := uint32(len(k.all.tickets))
	k.all.tickets = append(k.all.tickets, s.tickets...)
	k.all.slots = append(k.all.slots, s.slots...)
	k.all.several = k.all.several || s.several
	k.created = append(k.created, created[:s.N()]...)
	for number, trace := range s.traced {
		k.all.traced[first+number] = trace
	}
	k.numbers = append(k.numbers, make([]uint32, max(k.looked-len(k.numbers), 0))...)
	k.waiting = k.waiting.grown(len(s.union))
	for i, slot := range s.slots {
		k.numbers[slot] = first + uint32(i)
		k.waiting.add(slot)
	}
	k.live += s.N()
	k.noteShared(s, first)
	for i := range k.pools {
		p := &k.pools[i]
		p.members = p.members.grown(len(s.union))
		for _, number := range s.Pool(p.name) {
			p.members.add(s.slots[number])
			k.age(p, first+number)
		}
	}
}

// noteShared notes which tickets share a player with others that wait. The tickets of s begin at first.
func (k *IncrementalSelection) noteShared(s *Selection, first uint32) {
	k.all.shared = k.all.shared[:0]
	if len(k.shared) == 0 && !s.AnyShared() {
		return
	}
	k.all.shared = resize(k.all.shared, (len(k.all.tickets)+wordSlots-1)/wordSlots)
	clear(k.all.shared)
	for _, number := range k.shared {
		k.all.shared.add(number)
	}
	for i := range uint32(s.N()) {
		if s.Shared(i) {
			k.all.shared.add(first + i)
		}
	}
}

// forget removes a ticket that waits no more, or gets another number.
func (k *IncrementalSelection) forget(number uint32) {
	slot := k.all.slots[number]
	k.all.tickets[number] = nil
	delete(k.all.traced, number)
	for i := range k.pools {
		k.pools[i].members.remove(slot)
	}
}

// Propose notes that a ticket was proposed: it waits no more, or comes again with the next Advance. It returns false
// if there is no such ticket.
func (k *IncrementalSelection) Propose(number uint32) bool {
	if int(number) >= len(k.all.tickets) || k.all.tickets[number] == nil {
		return false
	}
	if slot := k.all.slots[number]; k.waiting.has(slot) {
		k.waiting.remove(slot)
		k.live--
		k.proposed = append(k.proposed, slot)
	}
	return true
}

// All is the tickets by number, of which some are gone. It has no pools and no columns.
func (k *IncrementalSelection) All() *Selection { return &k.all }

// Created is the times when the tickets were created, by number.
func (k *IncrementalSelection) Created() []float64 { return k.created }

// Live is how many tickets wait that were not proposed.
func (k *IncrementalSelection) Live() int { return k.live }

// Worn reports whether there are so many numbers of tickets that are gone that k should be made anew.
func (k *IncrementalSelection) Worn() bool {
	const slack = 4096
	return len(k.all.tickets) > 2*k.live+slack
}

// Again makes s all tickets that wait and were not proposed, and numbers k like it. It returns false if k is of no use
// any more, or tickets are gone since Commit. Columns of s must be read within the view.
func (v View) Again(s *Selection, k *IncrementalSelection) bool {
	if k.index != v.ix || k.moves != v.ix.moves {
		return false
	}
	for w, word := range k.waiting {
		if word&^v.ix.present[w] != 0 {
			return false
		}
	}
	words := len(v.ix.present)
	s.union = resize(s.union, words)
	clear(s.union)
	copy(s.union, k.waiting)
	s.pools = s.pools[:0]
	s.sets = resize(s.sets, words*len(k.pools))
	clear(s.sets)
	for i, p := range k.pools {
		s.pools = append(s.pools, poolList{name: p.name})
		set := s.set(i)
		for w, word := range p.members {
			set[w] = word & k.waiting[w]
		}
	}
	v.finish(s, nil)
	k.renumber(v, s)
	return true
}

// Count is how many of the tickets a pool has, and when the oldest one was created.
func (k *IncrementalSelection) Count(name string) (n int, oldest int64) {
	i := slices.IndexFunc(k.pools, func(p incrementalPool) bool { return p.name == name })
	if i < 0 {
		return 0, 0
	}
	p := &k.pools[i]
	for len(p.byAge) > 0 && k.all.tickets[p.byAge[0]] == nil {
		k.drop(p)
	}
	if len(p.byAge) == 0 {
		return 0, 0
	}
	return p.members.size(), int64(k.created[p.byAge[0]])
}

// age adds a number to the heap of a pool.
func (k *IncrementalSelection) age(p *incrementalPool, number uint32) {
	p.byAge = append(p.byAge, number)
	for at := len(p.byAge) - 1; at > 0; {
		up := (at - 1) / 2
		if k.created[p.byAge[up]] <= k.created[p.byAge[at]] {
			return
		}
		p.byAge[up], p.byAge[at] = p.byAge[at], p.byAge[up]
		at = up
	}
}

// drop removes the first number of a pool's heap.
func (k *IncrementalSelection) drop(p *incrementalPool) {
	last := len(p.byAge) - 1
	p.byAge[0] = p.byAge[last]
	p.byAge = p.byAge[:last]
	for at := 0; ; {
		least := at
		for down := 2*at + 1; down <= 2*at+2 && down < last; down++ {
			if k.created[p.byAge[down]] < k.created[p.byAge[least]] {
				least = down
			}
		}
		if least == at {
			return
		}
		p.byAge[at], p.byAge[least] = p.byAge[least], p.byAge[at]
		at = least
	}
}

// grown returns a set with room for so many words.
func (s bitset) grown(words int) bitset {
	if len(s) >= words {
		return s
	}
	return append(s, make(bitset, words-len(s))...)
}

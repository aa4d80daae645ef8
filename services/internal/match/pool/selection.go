package pool

import (
	"iter"
	"maps"
	"slices"
	"strings"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Selection is the tickets that a run sees: the union of its pools, or all tickets if it has none. They are numbered
// from 0 in the order of their creation. The order of tickets of one millisecond depends on their ids alone, so that
// equal numbers mean equal tickets on every replica.
//
// A selection may be used again and again, which saves allocations, but by one goroutine at a time. After its view
// ended it still has its tickets' ids and properties. Columns must be read within the view.
type Selection struct {
	tickets []*ticket // by number
	slots   []uint32  // by number
	numbers []uint32  // by slot; of the union's slots only

	union bitset
	sets  bitset   // the pools' slots, one set after the other
	order bitset   // a pool's numbers
	lists []uint32 // the pools' numbers, one after the other
	pools []poolList
	// traced are the spans of the tickets that are sampled, by number.
	traced map[uint32]string
	// alike are the slots of tickets that share a player with others that wait, and shared are their numbers.
	alike  []uint32
	shared bitset
	// hidden are the slots of them that are left out. overtakes is set if a ticket is older than one that is kept and has
	// one of its players.
	hidden    []hiddenSlot
	overtakes bool
	// several is set if a ticket may have several players.
	several bool

	sorter sorter
}

// poolList says where in Selection.lists a pool's numbers are.
type poolList struct {
	name       string
	start, end int
}

// Select makes s the union of the pools, or all tickets of the view's queue if there are none. A pool is the tickets of
// the queue that all of its filters select, or all of them if it has none. Select ignores segmentations.
//
// Of the tickets that a player has in the pools, only the oldest is selected: none that shares a player with an older
// one that is.
func (v View) Select(pools map[string]*pb.Pool, s *Selection) {
	v.match(pools, s, 0)
	v.finish(s, nil)
}

// SelectNone makes s the pools without a ticket.
func (v View) SelectNone(pools map[string]*pb.Pool, s *Selection) {
	empty := make(map[string]*pb.Pool, len(pools))
	for name := range pools {
		empty[name] = nil
	}
	v.match(empty, s, len(v.ix.present)*wordSlots)
	v.finish(s, nil)
}

// match fills the sets of a selection with those tickets of the pools whose slots are from one on.
func (v View) match(pools map[string]*pb.Pool, s *Selection, from int) {
	words := len(v.ix.present)
	s.pools = s.pools[:0]
	for name := range pools {
		s.pools = append(s.pools, poolList{name: name})
	}
	slices.SortFunc(s.pools, func(a, b poolList) int { return strings.Compare(a.name, b.name) })

	s.union = resize(s.union, words)
	clear(s.union)
	if len(pools) == 0 {
		v.fill(s.union, nil, from)
	}
	s.sets = resize(s.sets, words*len(pools))
	for i, p := range s.pools {
		v.fill(s.set(i), pools[p.name], from)
	}
}

// set is the slots of a pool.
func (s *Selection) set(i int) bitset {
	words := len(s.union)
	return s.sets[i*words:][:words]
}

// finish numbers the tickets of the sets, without those that share a player with an older one, also of k.
func (v View) finish(s *Selection, k *IncrementalSelection) {
	for i := range s.pools {
		for w, word := range s.set(i) {
			s.union[w] |= word
		}
	}
	s.several = v.ix.more > 0
	v.onlyOldest(s, k)
	v.number(s)
	s.noteShared()
	for i := range s.pools {
		s.list(&s.pools[i], s.set(i))
	}
}

// fill makes set the slots from one on that a pool selects. When the work is late it selects none.
func (v View) fill(set bitset, p *pb.Pool, from int) {
	first := min(from/wordSlots, len(set))
	clear(set[:first])
	v.start(set[first:], first)
	if first < len(set) {
		set[first] &^= 1<<(from%wordSlots) - 1
	}
	v.work.Count(len(set) - first)
	for _, f := range p.GetFilters() {
		if f.GetCount() != "" {
			v.keepCount(set, first, f)
			continue
		}
		c, in := v.find(f)
		if c == nil || v.work.Late() {
			clear(set[first:])
			return
		}
		v.work.Count(c.keep(set, first, in))
	}
}

// number gives the tickets of the union their numbers.
func (v View) number(s *Selection) {
	s.slots = s.union.appendTo(resize(s.slots, s.union.size())[:0])
	s.sorter.sort(s.slots, v.ix.created.keys, v.ix.slots)
	clear(s.tickets) // keep no tickets of a longer selection
	s.tickets = resize(s.tickets, len(s.slots))
	s.numbers = resize(s.numbers, len(v.ix.slots))
	for i, slot := range s.slots {
		s.tickets[i] = v.ix.slots[slot]
		s.numbers[slot] = uint32(i)
	}
	v.selectTraced(s)
	s.order = resize(s.order, (len(s.slots)+wordSlots-1)/wordSlots)
	s.lists = resize(s.lists, len(s.lists))[:0]
}

// list appends the numbers of a pool's tickets, in ascending order.
func (s *Selection) list(p *poolList, set bitset) {
	p.start = len(s.lists)
	if n := set.size(); n == s.N() {
		s.lists = slices.Grow(s.lists, n)
		for i := range n {
			s.lists = append(s.lists, uint32(i))
		}
	} else {
		set.rename(s.order, s.numbers)
		s.lists = s.order.appendTo(s.lists)
	}
	p.end = len(s.lists)
}

// N is the number of tickets.
func (s *Selection) N() int { return len(s.tickets) }

// ID is the id of ticket i.
func (s *Selection) ID(i int) string { return s.tickets[i].id }

// IDs is the ids of the tickets without those that are gone; nil if there are more than most.
func (s *Selection) IDs(most int) []string {
	if len(s.tickets) > most {
		return nil
	}
	ids := make([]string, 0, len(s.tickets))
	for _, t := range s.tickets {
		if t != nil {
			ids = append(ids, t.id)
		}
	}
	return ids
}

// Pool returns the numbers of a pool's tickets, in ascending order, or nil if no pool of that name was selected. It is
// valid until the selection is used again.
func (s *Selection) Pool(name string) []uint32 {
	byName := func(p poolList, name string) int { return strings.Compare(p.name, name) }
	i, found := slices.BinarySearchFunc(s.pools, name, byName)
	if !found {
		return nil
	}
	p := s.pools[i]
	return s.lists[p.start:p.end:p.end]
}

// Properties is all properties of ticket i, ordered by name. It must not be changed.
func (s *Selection) Properties(i int) []Property { return s.tickets[i].properties }

// trace notes the span of a ticket that is sampled.
func (ix *Index) trace(t *ticket, span string) {
	if ix.traced == nil {
		ix.traced = map[*ticket]string{}
	}
	ix.traced[t] = span
}

// selectTraced notes the spans of the selected tickets that are sampled.
func (v View) selectTraced(s *Selection) {
	clear(s.traced)
	if len(v.ix.traced) == 0 {
		return
	}
	if s.traced == nil {
		s.traced = map[uint32]string{}
	}
	for t, trace := range v.ix.traced {
		if s.union.has(t.slot) {
			s.traced[s.numbers[t.slot]] = trace
		}
	}
}

// Traced is how many tickets are sampled.
func (s *Selection) Traced() int { return len(s.traced) }

// Trace is the span of ticket i, and whether it is sampled.
func (s *Selection) Trace(i uint32) (string, bool) {
	trace, ok := s.traced[i]
	return trace, ok
}

// Traces are the spans of the tickets that are sampled, by number.
func (s *Selection) Traces() iter.Seq2[uint32, string] { return maps.All(s.traced) }

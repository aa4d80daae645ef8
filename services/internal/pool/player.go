package pool

import (
	"hash/maphash"
	"math/bits"
)

// A player is known by a hash of the id. Two players with one hash would be taken for one, so that the younger one's
// ticket waits until the older one's is gone; of a million, no two have one with a probability of 1 in 30 million that
// they do. The seed keeps anybody from choosing such ids.

// players are those of the tickets of an index.
type players struct {
	seed maphash.Seed
	// of has for each player the slot of the only ticket, or several and how many there are.
	of map[uint64]uint32
	// groups has the players of tickets that have more than one.
	groups map[*ticket][]uint64
	// shared has a bit for each ticket with a player who has another one, and for some with a player who had; nil when
	// there is none.
	shared bitset
}

// several is set in the number of a player's tickets, to tell it from a slot.
const several = 1 << 31

// join notes the players of a new ticket.
func (ix *Index) join(t *ticket) {
	p := &ix.players
	if len(ix.body.players) == 0 {
		if len(ix.body.owner) > 0 {
			t.player = maphash.Bytes(p.seed, ix.body.owner)
			ix.addPlayer(t, t.player)
		}
		return
	}
	group := make([]uint64, 0, len(ix.body.players))
	for _, id := range ix.body.players {
		group = append(group, maphash.Bytes(p.seed, id))
	}
	if p.groups == nil {
		p.groups = map[*ticket][]uint64{}
	}
	t.grouped = true
	p.groups[t] = group
	for _, player := range group {
		ix.addPlayer(t, player)
	}
}

func (ix *Index) addPlayer(t *ticket, player uint64) {
	p := &ix.players
	before, known := p.of[player]
	switch {
	case !known:
		p.of[player] = t.slot
		return
	case before < several:
		ix.share(before)
		before = several + 1
	}
	p.of[player] = before + 1
	ix.share(t.slot)
}

// share notes that a player of the ticket in a slot has others.
func (ix *Index) share(slot uint32) {
	if ix.players.shared == nil {
		ix.players.shared = make(bitset, len(ix.present))
	}
	ix.players.shared.add(slot)
}

// leave forgets the players of a ticket.
func (ix *Index) leave(t *ticket) {
	p := &ix.players
	ix.eachPlayer(t, func(player uint64) {
		if n := p.of[player]; n <= several+1 {
			delete(p.of, player)
		} else {
			p.of[player] = n - 1
		}
	})
	if t.grouped {
		delete(p.groups, t)
	}
	if p.shared != nil {
		p.shared.remove(t.slot)
	}
}

func (ix *Index) eachPlayer(t *ticket, f func(player uint64)) {
	if !t.grouped {
		if t.player != 0 {
			f(t.player)
		}
		return
	}
	for _, player := range ix.players.groups[t] {
		f(player)
	}
}

// movePlayers follows tickets to their new slots: the n-th of live is the old slot of the ticket in slot n. If fresh is
// set, the map is made anew, since a Go map does not shrink.
func (ix *Index) movePlayers(live []uint32, fresh bool) {
	p := &ix.players
	if fresh {
		of := make(map[uint64]uint32, len(live))
		for player, n := range p.of {
			of[player] = n
		}
		p.of = of
	}
	var shared bitset
	for to, at := range live {
		if p.shared != nil && p.shared.has(at) {
			if shared == nil {
				shared = make(bitset, (len(live)+wordSlots-1)/wordSlots)
			}
			shared.add(uint32(to))
		}
		if uint32(to) == at {
			continue
		}
		ix.eachPlayer(ix.slots[at], func(player uint64) {
			if p.of[player] < several {
				p.of[player] = uint32(to)
			}
		})
	}
	p.shared = shared
}

// onlyOldest leaves of the tickets in the union those out that share a player with an older one that stays.
func (v View) onlyOldest(s *Selection) {
	s.alike, s.hides = s.alike[:0], false
	shared := v.ix.players.shared
	for w := range shared {
		shared := shared[w] & s.union[w]
		for ; shared != 0; shared &= shared - 1 {
			s.alike = append(s.alike, uint32(w*wordSlots+bits.TrailingZeros64(shared)))
		}
	}
	if len(s.alike) == 0 {
		return
	}
	v.work.Count(len(s.alike))
	s.sorter.sort(s.alike, v.ix.created.keys, v.ix.slots)
	seen := make(map[uint64]struct{}, len(s.alike))
	kept := s.alike[:0]
	for i, slot := range s.alike {
		if i%lateStep == 0 && v.work.Late() {
			break
		}
		t, twice := v.ix.slots[slot], false
		v.ix.eachPlayer(t, func(player uint64) {
			_, has := seen[player]
			twice = twice || has
		})
		if twice {
			s.hides = true
			s.union.remove(slot)
			for i := range s.pools {
				s.set(i).remove(slot)
			}
			continue
		}
		v.ix.eachPlayer(t, func(player uint64) { seen[player] = struct{}{} })
		kept = append(kept, slot)
	}
	s.alike = kept
}

// noteShared notes the numbers of the tickets that share a player with others that wait.
func (s *Selection) noteShared() {
	s.shared = s.shared[:0]
	if len(s.alike) == 0 {
		return
	}
	s.shared = resize(s.shared, (len(s.slots)+wordSlots-1)/wordSlots)
	clear(s.shared)
	for _, slot := range s.alike {
		s.shared.add(s.numbers[slot])
	}
}

// Hides tells whether tickets of the pools were left out, because their players have older ones in them.
func (s *Selection) Hides() bool { return s.hides }

// AnyShared tells whether a player of one of the tickets may have others that wait, which the selection does not have.
func (s *Selection) AnyShared() bool { return len(s.shared) > 0 }

// Shared tells whether a player of ticket i may have others that wait.
func (s *Selection) Shared(i uint32) bool { return len(s.shared) > 0 && s.shared.has(i) }

package pool

import (
	"hash/maphash"
	"maps"
	"math/bits"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// A player is known by a hash of the id. Two players with one hash would be taken for one, so that the younger one's
// ticket waits until the older one's is gone; of a million, no two have one with a probability of 1 in 30 million that
// they do. With the seed, players cannot choose such ids.

// players are the players of an index's tickets.
type players struct {
	seed maphash.Seed
	// of has for each player the slot of the only ticket, or several and how many there are.
	of map[uint64]uint32
	// shared has a bit for each ticket with a player in several tickets, and for some with a player that was; nil for
	// none.
	shared bitset
}

// several is set in the number of a player's tickets, to tell it from a slot.
const several = 1 << 31

// join notes the players of a new ticket. It has a group if it needs one.
func (ix *Index) join(t *ticket, body *pb.Ticket) {
	seed, owner := ix.players.seed, body.GetOwner()
	switch {
	case len(body.GetPlayers()) > 0:
		t.group = ix.names.newGroup(seed, body.GetPlayers())
	case owner == "":
		return
	case ix.owners:
		t.group = &group{members: []member{{handle: maphash.String(seed, owner), id: owner}}, implied: true}
	default:
		t.player = maphash.String(seed, owner)
		ix.addPlayer(t, t.player)
		return
	}
	ix.groups++
	t.group.count(ix, 1)
	for i := range t.group.members {
		ix.addPlayer(t, t.group.members[i].handle)
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
	t.eachPlayer(func(player uint64) {
		if n := p.of[player]; n <= several+1 {
			delete(p.of, player)
		} else {
			p.of[player] = n - 1
		}
	})
	if t.group != nil {
		ix.groups--
		t.group.count(ix, -1)
	}
	if p.shared != nil {
		p.shared.remove(t.slot)
	}
}

func (t *ticket) eachPlayer(f func(player uint64)) {
	if t.group == nil {
		if t.player != 0 {
			f(t.player)
		}
		return
	}
	for i := range t.group.members {
		f(t.group.members[i].handle)
	}
}

// movePlayers follows tickets to their new slots: the n-th of live is the old slot of the ticket in slot n. If fresh is
// set, the map is made anew, since a Go map does not shrink.
func (ix *Index) movePlayers(live []uint32, fresh bool) {
	p := &ix.players
	if fresh {
		of := make(map[uint64]uint32, len(live))
		maps.Copy(of, p.of)
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
		ix.slots[at].eachPlayer(func(player uint64) {
			if p.of[player] < several {
				p.of[player] = uint32(to)
			}
		})
	}
	p.shared = shared
}

// hiddenSlot is the slot of a ticket that is hidden, and one of its pools; -1 where there are none.
type hiddenSlot struct {
	slot uint32
	pool int
}

// onlyOldest leaves of the tickets in the union those out that share a player with an older one that stays. k has
// further ones that stay, unless it is nil.
func (v View) onlyOldest(s *Selection, k *IncrementalSelection) {
	s.alike, s.hidden, s.overtakes = s.alike[:0], s.hidden[:0], false
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
	seen := v.keptPlayers(k, len(s.alike)) // by when their tickets were created
	kept := s.alike[:0]
	for i, slot := range s.alike {
		if i%lateStep == 0 && v.work.Late() {
			break
		}
		t, stamp := v.ix.slots[slot], v.ix.created.keys[slot]
		older, younger := false, false
		t.eachPlayer(func(player uint64) {
			at, has := seen[player]
			older, younger = older || has && at <= stamp, younger || has && at > stamp
		})
		if older {
			s.hide(slot)
			continue
		}
		s.overtakes = s.overtakes || younger
		t.eachPlayer(func(player uint64) { seen[player] = stamp })
		kept = append(kept, slot)
	}
	s.alike = kept
}

// keptPlayers has the stamps of the tickets that are kept and share players, by player.
func (v View) keptPlayers(k *IncrementalSelection, more int) map[uint64]uint64 {
	seen := make(map[uint64]uint64, more)
	if k == nil {
		return seen
	}
	for w, word := range v.ix.players.shared[:min(len(v.ix.players.shared), len(k.waiting))] {
		word &= k.waiting[w] & v.ix.present[w]
		for ; word != 0; word &= word - 1 {
			slot := w*wordSlots + bits.TrailingZeros64(word)
			v.work.Count(1)
			v.ix.slots[slot].eachPlayer(func(player uint64) { seen[player] = v.ix.created.keys[slot] })
		}
	}
	return seen
}

// hide leaves a ticket out.
func (s *Selection) hide(slot uint32) {
	s.union.remove(slot)
	if len(s.pools) == 0 {
		s.hidden = append(s.hidden, hiddenSlot{slot, -1})
	}
	for i := range s.pools {
		if s.set(i).has(slot) {
			s.hidden = append(s.hidden, hiddenSlot{slot, i})
			s.set(i).remove(slot)
		}
	}
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

// AnyShared reports whether a player of one of the tickets may have others that wait, which the selection does not
// have.
func (s *Selection) AnyShared() bool { return len(s.shared) > 0 }

// Shared reports whether a player of ticket i may have others that wait.
func (s *Selection) Shared(i uint32) bool { return len(s.shared) > 0 && s.shared.has(i) }

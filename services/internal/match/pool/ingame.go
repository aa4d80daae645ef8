package pool

import "math/bits"

// Waiting calls f with each of these players that waits in a ticket of a selection, and the number of that ticket. With
// k it is also called for tickets that are kept, and the selection's numbers follow theirs. It takes time for the
// players, and for tickets of players that have several.
func (v View) Waiting(players map[uint64]bool, s *Selection, k *IncrementalSelection,
	f func(player uint64, number uint32)) {
	v.work.Count(len(players))
	if len(v.ix.players.of) == 0 {
		return
	}
	found := func(player uint64, slot uint32) {
		if number, ok := v.numberOf(slot, s, k); ok {
			f(player, number)
		}
	}
	twice := false
	for player := range players {
		switch n, waits := v.ix.players.of[player]; {
		case !waits:
		case n >= several:
			twice = true
		default:
			found(player, n)
		}
	}
	if !twice {
		return
	}
	for w, word := range v.ix.players.shared {
		v.work.Count(1)
		for ; word != 0; word &= word - 1 {
			slot := uint32(w*wordSlots + bits.TrailingZeros64(word))
			if t := v.ix.slots[slot]; t != nil && v.ix.present.has(slot) {
				v.work.Count(1)
				t.eachPlayer(func(player uint64) {
					if players[player] {
						found(player, slot)
					}
				})
			}
		}
	}
}

// numberOf is the number of the ticket in a slot, if it is selected or kept.
func (v View) numberOf(slot uint32, s *Selection, k *IncrementalSelection) (uint32, bool) {
	first := uint32(0)
	if k != nil {
		first = uint32(len(k.all.tickets))
	}
	switch {
	case int(slot)/wordSlots < len(s.union) && s.union.has(slot):
		return first + s.numbers[slot], true
	case k != nil && int(slot)/wordSlots < len(k.waiting) && k.waiting.has(slot):
		return k.numbers[slot], true
	}
	return 0, false
}

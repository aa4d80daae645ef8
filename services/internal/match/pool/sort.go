package pool

// sorter sorts slots by their tickets: by stamp, which is by creation time and then by a hash of the id, and by id
// where stamps are equal. The order depends on the tickets alone, so that every replica numbers them alike.
//
// Slots mostly are in that order already, or close to it, because they are used as tickets arrive. Tickets that wait
// again and clocks that disagree disturb it.
type sorter struct{ pairs, spare []pair }

type pair struct {
	stamp uint64
	slot  uint32
}

// The radix sort's digits. The counts of one, 8 KiB, stay in the first-level cache.
const (
	digitBits = 11
	digits    = (64 + digitBits - 1) / digitBits
	radix     = 1 << digitBits
)

// sort orders slots, given the stamp and the ticket of every slot.
func (a *sorter) sort(slots []uint32, stamps []uint64, tickets []*ticket) {
	// Insertion takes a step for each pair out of order. A radix sort takes as long as about ten steps a slot.
	if insert(slots, stamps, tickets, 8*len(slots)+radix) {
		return
	}
	a.byStamp(slots, stamps)
	insert(slots, stamps, tickets, -1) // equal stamps
}

// insert sorts slots, unless that takes more than so many steps. A negative number is no limit.
func insert(slots []uint32, stamps []uint64, tickets []*ticket, steps int) bool {
	for i := 1; i < len(slots); i++ {
		for j := i; j > 0; j-- {
			x, y := slots[j-1], slots[j]
			if stamps[x] < stamps[y] || stamps[x] == stamps[y] && tickets[x].id < tickets[y].id {
				break
			}
			if steps == 0 {
				return false
			}
			steps--
			slots[j-1], slots[j] = y, x
		}
	}
	return true
}

// byStamp is a radix sort, least digit first, that skips digits that all stamps share.
func (a *sorter) byStamp(slots []uint32, stamps []uint64) {
	a.pairs, a.spare = resize(a.pairs, len(slots)), resize(a.spare, len(slots))
	var differ uint64
	for i, slot := range slots {
		a.pairs[i] = pair{stamps[slot], slot}
		differ |= stamps[slot] ^ stamps[slots[0]]
	}
	for d := range digits {
		shift := d * digitBits
		if differ>>shift%radix == 0 {
			continue
		}
		var next [radix]uint32
		for _, p := range a.pairs {
			next[p.stamp>>shift%radix]++
		}
		var sum uint32
		for i, n := range next {
			next[i], sum = sum, sum+n
		}
		for _, p := range a.pairs {
			digit := p.stamp >> shift % radix
			a.spare[next[digit]] = p
			next[digit]++
		}
		a.pairs, a.spare = a.spare, a.pairs
	}
	for i, p := range a.pairs {
		slots[i] = p.slot
	}
}

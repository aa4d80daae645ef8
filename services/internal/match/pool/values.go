package pool

import (
	"math"
	"slices"
)

// Values writes an attribute's values to dst, for some tickets of a selection that any earlier view made: NaN for
// those without one, and for those that wait no more. dst is as long as numbers.
func (v View) Values(s *Selection, attribute string, numbers []uint32, dst []float64) {
	v.work.Count(len(numbers))
	c := v.column(attribute)
	for i, number := range numbers {
		dst[i] = math.NaN()
		if t := s.tickets[number]; c != nil && t != nil && v.has(t) {
			dst[i] = value(c.at(t.slot))
		}
	}
}

// has reports whether a ticket still waits.
func (v View) has(t *ticket) bool { return int(t.slot) < len(v.ix.slots) && v.ix.slots[t.slot] == t }

// at is the key of a slot.
func (c *column) at(slot uint32) uint64 {
	if c.dense {
		return c.keys[slot]
	}
	if i, found := slices.BinarySearch(c.slots, slot); found {
		return c.keys[i]
	}
	return absent
}

// Players is how many players a ticket has.
func (s *Selection) Players(number uint32) int {
	if !s.several {
		return 1
	}
	return 1 + s.tickets[number].more()
}

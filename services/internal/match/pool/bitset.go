package pool

import (
	"math/bits"
	"slices"
)

// wordSlots is how many slots a word of a bitmap covers. Dense columns are as long as their bitmap's words, so that a
// scan has no remainder.
const wordSlots = 64

// bitset is a set of slots or of ticket numbers.
type bitset []uint64

func (s bitset) add(member uint32)      { s[member/wordSlots] |= 1 << (member % wordSlots) }
func (s bitset) remove(member uint32)   { s[member/wordSlots] &^= 1 << (member % wordSlots) }
func (s bitset) has(member uint32) bool { return s[member/wordSlots]>>(member%wordSlots)&1 != 0 }

func popcount(word uint64) int { return bits.OnesCount64(word) }

// size is the number of members.
func (s bitset) size() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// appendTo appends the members in ascending order.
func (s bitset) appendTo(dst []uint32) []uint32 {
	dst = slices.Grow(dst, s.size())
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			dst = append(dst, uint32(w*wordSlots+bits.TrailingZeros64(word)))
		}
	}
	return dst
}

// rename makes dst the set of names[m] for each member m.
func (s bitset) rename(dst bitset, names []uint32) {
	clear(dst)
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			dst.add(names[w*wordSlots+bits.TrailingZeros64(word)])
		}
	}
}

// keep keeps the slots whose key is in the interval.
func (s bitset) keep(keys []uint64, in interval) {
	for w, word := range s {
		if word != 0 {
			s[w] = word & hits((*[wordSlots]uint64)(keys[w*wordSlots:]), in)
		}
	}
}

// hits has a bit for each key in the interval. It unrolls eight keys: with the loop's instructions for each key, a scan
// would take more than twice the time of reading the column.
func hits(keys *[wordSlots]uint64, in interval) uint64 {
	var word uint64
	for i := wordSlots; i > 0; i -= 8 { // from the end, since what is shifted in first ends on top
		k := (*[8]uint64)(keys[i-8:])
		word = hit(word, k[7], in)
		word = hit(word, k[6], in)
		word = hit(word, k[5], in)
		word = hit(word, k[4], in)
		word = hit(word, k[3], in)
		word = hit(word, k[2], in)
		word = hit(word, k[1], in)
		word = hit(word, k[0], in)
	}
	return word
}

// hit shifts into a word whether a key is in the interval. The borrow of the comparison is the carry of an addition:
// four instructions a key, and no branch.
func hit(word, key uint64, in interval) uint64 {
	_, hit := bits.Sub64(key-in.low, in.span, 0)
	word, _ = bits.Add64(word, word, hit)
	return word
}

// keepSparse is keep from a word on, for a column that lists its slots, in ascending order.
func (s bitset) keepSparse(first int, slots []uint32, keys []uint64, in interval) {
	next := 0
	for w := first; w < len(s); w++ {
		word := s[w]
		var hits uint64
		for next < len(slots) && int(slots[next]/wordSlots) == w {
			if in.holds(keys[next]) {
				hits |= 1 << (slots[next] % wordSlots)
			}
			next++
		}
		s[w] = word & hits
	}
}

// keptElements is how many elements a slice may keep room for that needs fewer.
const keptElements = 1 << 17

// resize returns s with n elements of any value, and reuses its memory. Memory that a much longer slice once needed is
// given back.
func resize[S ~[]T, T any](s S, n int) S {
	if cap(s) > keptElements && cap(s) > 4*n {
		return make(S, n)
	}
	return slices.Grow(s[:0], n)[:n]
}

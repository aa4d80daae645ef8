package matchfn

import (
	"math"
	"math/bits"
	"sync"
)

// SortBy returns the numbers of all elements of a column, sorted by their values: ascending, NaN last. Equal values
// keep their order.
//
// It is a radix sort, which the runner does for the module. In WebAssembly it is many times as fast as sorting with a
// comparison function. For descending order, read the result backwards.
func SortBy(values []float64) []uint32 {
	order := make([]uint32, len(values))
	SortInto(order, values)
	return order
}

// SortInto is SortBy into memory that the caller reuses. It fills order, which must be as long as values.
func SortInto(order []uint32, values []float64) {
	order = order[:len(values)]
	if len(values) > few && hostSort(order, values) {
		return
	}
	s := sorters.Get().(*sorter)
	defer sorters.Put(s)
	s.resize(len(values))
	keys := s.keys
	for ; len(values) >= 8; keys, values = keys[8:], values[8:] {
		k, v := (*[8]uint64)(keys), (*[8]float64)(values)
		k[0], k[1], k[2], k[3] = key(v[0]), key(v[1]), key(v[2]), key(v[3])
		k[4], k[5], k[6], k[7] = key(v[4]), key(v[5]), key(v[6]), key(v[7])
	}
	for i, v := range values {
		keys[i] = key(v)
	}
	s.sort(order)
}

// SortPool returns the tickets sorted by their values, as SortBy does. Equal values keep the order of tickets. A ticket
// number outside of the column counts as NaN.
func SortPool(tickets []uint32, values []float64) []uint32 {
	s := sorters.Get().(*sorter)
	defer sorters.Put(s)
	if cap(s.pool) < len(tickets) {
		s.pool = make([]float64, len(tickets)+len(tickets)/8)
	}
	pool := s.pool[:len(tickets)]
	GatherInto(pool, values, tickets)
	order := SortBy(pool)
	for i, place := range order {
		order[i] = tickets[place]
	}
	return order
}

// missing is the key of NaN. It is the greatest key.
const missing = math.MaxUint64

// key maps numbers to integers with the same order. -0 is equal to 0, and every NaN becomes missing.
func key(v float64) uint64 {
	nan := uint64(0)
	if v != v {
		nan = missing
	}
	b := math.Float64bits(v + 0) // -0 + 0 is 0
	return b ^ (uint64(int64(b)>>63) | 1<<63) | nan
}

const (
	digitBits = 11
	digits    = 1 << digitBits
	digitMask = digits - 1
	// maxPasses is the number of digits to sort by. With 44 bits, nearly all of four million different keys differ.
	maxPasses = 4
	// few is the number of items up to which insertion sort is faster than counting.
	few = 64
)

// sorters reuses memory: garbage collection is a large part of a run's time in a module.
var sorters = sync.Pool{New: func() any { return new(sorter) }}

// sorter sorts numbers by their keys.
//
// An item is one word. Its low bits are a number, its high bits as many bits of the key as fit, beginning with the
// highest bit in which keys differ. Items are first sorted by their highest digits, so that nearly all of them are in
// order, and then by insertion.
type sorter struct {
	keys         []uint64
	items, other []uint64
	pool         []float64 // of SortPool, which sorts with another sorter
	counts       [maxPasses][digits]uint32
}

func (s *sorter) resize(n int) {
	if cap(s.keys) < n {
		n := n + n/8
		s.keys, s.items, s.other = make([]uint64, n), make([]uint64, n), make([]uint64, n)
	}
	s.keys, s.items, s.other = s.keys[:n], s.items[:n], s.other[:n]
}

// sort fills order with the numbers of the keys, sorted by key, then by number.
func (s *sorter) sort(order []uint32) {
	least, greatest, ascending := s.survey()
	if ascending {
		for i := range order {
			order[i] = uint32(i)
		}
		return
	}
	n := len(order)
	number := bits.Len(uint(n - 1))
	width := bits.Len64(greatest - least)
	lost := max(0, width+number-64) // bits of keys that do not fit
	s.pack(least, greatest, lost, number)
	steps := n * n
	if n > few {
		steps = 4 * n
		// Twice as many bits as a number has distinguish nearly all of n keys.
		passes := min((min(width-lost, 2*number)+digitBits-1)/digitBits, maxPasses)
		s.count(max(number, number+width-lost-passes*digitBits), passes)
	}
	exact := 0 // items have whole keys
	if lost > 0 {
		exact = number // equal items may have different keys
	}
	if !s.insert(number, exact, steps) {
		s.countAll()
	}
	mask := uint64(1)<<number - 1
	items := s.items
	for ; len(items) >= 8; items, order = items[8:], order[8:] {
		it, to := (*[8]uint64)(items), (*[8]uint32)(order)
		to[0], to[1], to[2], to[3] = uint32(it[0]&mask), uint32(it[1]&mask), uint32(it[2]&mask), uint32(it[3]&mask)
		to[4], to[5], to[6], to[7] = uint32(it[4]&mask), uint32(it[5]&mask), uint32(it[6]&mask), uint32(it[7]&mask)
	}
	for i, item := range items {
		order[i] = uint32(item & mask)
	}
}

// survey returns the least key, the greatest key and whether the keys are in order. For the greatest key, missing
// counts as one more than the greatest other key.
func (s *sorter) survey() (least, greatest uint64, ascending bool) {
	r := keyRange{least: missing}
	keys := s.keys
	for ; len(keys) >= 8; keys = keys[8:] {
		k := (*[8]uint64)(keys)
		r = r.and(k[0]).and(k[1]).and(k[2]).and(k[3]).and(k[4]).and(k[5]).and(k[6]).and(k[7])
	}
	for _, k := range keys {
		r = r.and(k)
	}
	return r.least, r.greatest + 1, r.descents == 0
}

// keyRange is the state of survey.
type keyRange struct{ least, greatest, before, descents uint64 }

func (r keyRange) and(k uint64) keyRange {
	if k < r.before {
		r.descents = 1
	}
	r.before = k
	if k < r.least {
		r.least = k
	}
	if k == missing {
		k = 0
	}
	if k > r.greatest {
		r.greatest = k
	}
	return r
}

// pack makes the items from the keys.
func (s *sorter) pack(least, greatest uint64, lost, number int) {
	keys, items, i := s.keys, s.items, uint64(0)
	for ; len(keys) >= 4; keys, items = keys[4:], items[4:] {
		k, it := (*[4]uint64)(keys), (*[4]uint64)(items)
		it[0] = (min(k[0], greatest)-least)>>(lost&63)<<(number&63) | i
		it[1] = (min(k[1], greatest)-least)>>(lost&63)<<(number&63) | (i + 1)
		it[2] = (min(k[2], greatest)-least)>>(lost&63)<<(number&63) | (i + 2)
		it[3] = (min(k[3], greatest)-least)>>(lost&63)<<(number&63) | (i + 3)
		i += 4
	}
	for j, k := range keys {
		items[j] = (min(k, greatest)-least)>>(lost&63)<<(number&63) | (i + uint64(j))
	}
}

// count sorts items by their digits, the lowest first. The first digit begins at bit shift.
func (s *sorter) count(shift, passes int) {
	clear(s.counts[:])
	c := &s.counts
	items := s.items
	for ; len(items) >= 4; items = items[4:] {
		it := (*[4]uint64)(items)
		tally(c, it[0]>>(shift&63))
		tally(c, it[1]>>(shift&63))
		tally(c, it[2]>>(shift&63))
		tally(c, it[3]>>(shift&63))
	}
	for _, item := range items {
		tally(c, item>>(shift&63))
	}
	for p := range passes {
		s.pass(&s.counts[p], shift+p*digitBits)
	}
}

// tally counts the digits of an item. It ignores the bits beyond the last digit.
func tally(c *[maxPasses][digits]uint32, item uint64) {
	c[0][item&digitMask]++
	c[1][item>>digitBits&digitMask]++
	c[2][item>>(2*digitBits)&digitMask]++
	c[3][item>>(3*digitBits)&digitMask]++
}

// pass sorts items by one digit, whose values it gets counted.
func (s *sorter) pass(count *[digits]uint32, shift int) {
	starts(count)
	items, other := s.items, s.other
	for ; len(items) >= 8; items = items[8:] {
		it := (*[8]uint64)(items)
		put(count, other, it[0], shift)
		put(count, other, it[1], shift)
		put(count, other, it[2], shift)
		put(count, other, it[3], shift)
		put(count, other, it[4], shift)
		put(count, other, it[5], shift)
		put(count, other, it[6], shift)
		put(count, other, it[7], shift)
	}
	for _, item := range items {
		put(count, other, item, shift)
	}
	s.items, s.other = s.other, s.items
}

// put moves an item to the next place for its digit.
func put(count *[digits]uint32, to []uint64, item uint64, shift int) {
	digit := item >> (shift & 63) & digitMask
	n := count[digit]
	count[digit] = n + 1
	to[n] = item
}

// insert sorts items by insertion. It returns false if that takes more steps than allowed. The bits of items above
// exact have the order of their keys.
func (s *sorter) insert(number, exact, steps int) bool {
	items := s.items
	for i := 1; i < len(items); {
		if i+8 < len(items) {
			it := (*[9]uint64)(items[i-1:])
			if rises(it[0], it[1], exact)&rises(it[1], it[2], exact)&rises(it[2], it[3], exact)&rises(it[3], it[4], exact)&
				rises(it[4], it[5], exact)&rises(it[5], it[6], exact)&rises(it[6], it[7], exact)&rises(it[7], it[8], exact) != 0 {
				i += 8
				continue
			}
		}
		item, j := items[i], i
		for ; j > 0 && s.less(item, items[j-1], number); j-- {
			if steps--; steps < 0 {
				items[j] = item
				return false
			}
			items[j] = items[j-1]
		}
		items[j] = item
		i++
	}
	return true
}

// rises returns 1 if two items are certainly in order, else 0.
func rises(a, b uint64, exact int) uint64 {
	if a>>(exact&63) < b>>(exact&63) {
		return 1
	}
	return 0
}

// less compares items by their whole keys.
func (s *sorter) less(a, b uint64, number int) bool {
	if a>>number != b>>number {
		return a < b
	}
	mask := uint64(1)<<number - 1
	if ka, kb := s.keys[a&mask], s.keys[b&mask]; ka != kb {
		return ka < kb
	}
	return a < b
}

// countAll sorts by all digits of all keys. It is for clusters of keys that are far from each other: their highest
// digits are equal.
func (s *sorter) countAll() {
	for i := range s.items {
		s.items[i] = uint64(i)
	}
	otherKeys := make([]uint64, len(s.keys))
	for shift := 0; shift < 64; shift += digitBits {
		count := &s.counts[0]
		clear(count[:])
		for _, k := range s.keys {
			count[k>>shift&digitMask]++
		}
		if count[s.keys[0]>>shift&digitMask] == uint32(len(s.keys)) {
			continue
		}
		starts(count)
		for i, k := range s.keys {
			digit := k >> shift & digitMask
			n := count[digit]
			count[digit] = n + 1
			s.other[n], otherKeys[n] = s.items[i], k
		}
		s.items, s.other = s.other, s.items
		s.keys, otherKeys = otherKeys, s.keys
	}
}

// starts replaces the count of each digit by the place of its first item.
func starts(count *[digits]uint32) {
	sum := uint32(0)
	for i, n := range count {
		count[i] = sum
		sum += n
	}
}

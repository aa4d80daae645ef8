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
	if n := len(values) + len(values)/8; cap(s.keys) < len(values) {
		s.keys, s.items, s.other = make([]uint64, n), make([]uint64, n), make([]uint64, n)
	}
	s.keys, s.items, s.other = s.keys[:len(values)], s.items[:len(values)], s.other[:len(values)]
	for i, v := range values {
		s.keys[i] = key(v)
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

// sort fills order with the numbers of the keys, sorted by key, then by number. For the greatest key, missing counts as
// one more than the greatest other key.
func (s *sorter) sort(order []uint32) {
	least, greatest, ascending := uint64(missing), uint64(0), true
	for i, k := range s.keys {
		ascending = ascending && (i == 0 || s.keys[i-1] <= k)
		if least = min(least, k); k != missing {
			greatest = max(greatest, k)
		}
	}
	if greatest++; ascending {
		for i := range order {
			order[i] = uint32(i)
		}
		return
	}
	n := len(order)
	number := bits.Len(uint(n - 1))
	width := bits.Len64(greatest - least)
	lost := max(0, width+number-64) // bits of keys that do not fit
	for i, k := range s.keys {
		s.items[i] = (min(k, greatest)-least)>>lost<<number | uint64(i)
	}
	steps := n * n
	if n > few {
		steps = 4 * n
		// Twice as many bits as a number has distinguish nearly all of n keys.
		passes := min((min(width-lost, 2*number)+digitBits-1)/digitBits, maxPasses)
		s.count(max(number, number+width-lost-passes*digitBits), passes)
	}
	if !s.insert(number, steps) {
		s.countAll()
	}
	mask := uint64(1)<<number - 1
	for i, item := range s.items {
		order[i] = uint32(item & mask)
	}
}

// count sorts items by their digits, the lowest first. The first digit begins at bit shift.
func (s *sorter) count(shift, passes int) {
	clear(s.counts[:])
	c := &s.counts
	for _, item := range s.items {
		item >>= shift & 63
		c[0][item&digitMask]++
		c[1][item>>digitBits&digitMask]++
		c[2][item>>(2*digitBits)&digitMask]++
		c[3][item>>(3*digitBits)&digitMask]++
	}
	for p := range passes {
		count, at := &s.counts[p], shift+p*digitBits
		starts(count)
		for _, item := range s.items {
			digit := item >> (at & 63) & digitMask
			s.other[count[digit]] = item
			count[digit]++
		}
		s.items, s.other = s.other, s.items
	}
}

// insert sorts items by insertion. It returns false if that takes more steps than allowed.
func (s *sorter) insert(number, steps int) bool {
	items := s.items
	for i, item := range items {
		j := i
		for ; j > 0 && s.less(item, items[j-1], number); j-- {
			if steps--; steps < 0 {
				items[j] = item
				return false
			}
			items[j] = items[j-1]
		}
		items[j] = item
	}
	return true
}

// less compares items by their whole keys.
func (s *sorter) less(a, b uint64, number int) bool {
	if a>>(number&63) != b>>(number&63) {
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

// Gather returns the elements of a column at the given numbers, in that order. With an order from [SortBy], it returns
// the sorted column. The element of a number outside of the column is NaN.
//
// A loop over a column in order is faster than one that looks up each element, in WebAssembly about twice as fast: the
// runner gathers for the module.
func Gather(values []float64, numbers []uint32) []float64 {
	to := make([]float64, len(numbers))
	GatherInto(to, values, numbers)
	return to
}

// GatherInto is Gather into memory that the caller reuses. It fills to, which must be as long as numbers.
func GatherInto(to, values []float64, numbers []uint32) {
	to = to[:len(numbers)]
	if len(numbers) > few && hostGather(to, values, numbers) {
		return
	}
	for i, number := range numbers {
		v := math.NaN()
		if int64(number) < int64(len(values)) {
			v = values[number]
		}
		to[i] = v
	}
}

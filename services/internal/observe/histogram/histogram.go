// Package histogram counts values in buckets, each of which ends a fifth above the one before, so that the counts of
// many processes can be added and still have quantiles.
package histogram

import "math"

// perDouble is how many buckets a value passes until it is twice as large.
const perDouble = 4

// Buckets is how many there are. The last one has all values from 200 million on: minutes in microseconds, and more
// than an instance's memory in KiB.
const Buckets = perDouble*27 + 4

// Counts counts values by bucket. The zero Counts is empty.
type Counts [Buckets]uint32

// Add counts a value.
func (c *Counts) Add(value int64) { c[bucketOf(value)]++ }

// bucketOf is the first bucket that ends at the value or behind it.
func bucketOf(value int64) int {
	if value <= 1 {
		return 0
	}
	return min(Buckets-1, int(math.Ceil(perDouble*math.Log2(float64(value)))))
}

// endOf is the greatest value of a bucket.
func endOf(bucket int) int64 { return int64(math.Round(math.Exp2(float64(bucket) / perDouble))) }

// Merge adds counts that List returned, here or elsewhere.
func (c *Counts) Merge(list []uint32) {
	for i, n := range list[:min(len(list), Buckets)] {
		c[i] += n
	}
}

// List is the counts without the empty buckets at the end.
func (c *Counts) List() []uint32 {
	n := Buckets
	for n > 0 && c[n-1] == 0 {
		n--
	}
	return append([]uint32(nil), c[:n]...)
}

// Quantile is about the value below which a share of all values lies, 0 if there are none. It is too high by a fifth at
// most.
func (c *Counts) Quantile(share float64) int64 {
	total := uint64(0)
	for _, n := range c {
		total += uint64(n)
	}
	if total == 0 {
		return 0
	}
	rank, seen := uint64(math.Ceil(share*float64(total))), uint64(0)
	for i, n := range c {
		if seen += uint64(n); seen >= max(rank, 1) {
			return endOf(i)
		}
	}
	return endOf(Buckets - 1)
}

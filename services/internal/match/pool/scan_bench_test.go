package pool

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkScan compares the scan of a million keys, a tenth of them selected, with reading the same 8 MB. It reads
// into four sums, because one sum would be limited by the latency of addition.
func BenchmarkScan(b *testing.B) {
	const slots = 1_000_000 / wordSlots * wordSlots
	random := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, slots)
	for i := range keys {
		keys[i] = key(random.Float64())
	}
	in := from(key(0), key(0.1))
	set := make(bitset, slots/wordSlots)
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(slots * 8)
		for b.Loop() {
			for w := range set {
				set[w] = ^uint64(0)
			}
			set.keep(keys, in)
		}
	})
	b.Run("sum", func(b *testing.B) {
		b.SetBytes(slots * 8)
		for b.Loop() {
			sink = sum4(keys)
		}
	})
	b.Run("float sum", func(b *testing.B) {
		b.SetBytes(slots * 8)
		floats := make([]float64, slots)
		for i, k := range keys {
			floats[i] = value(k)
		}
		for b.Loop() {
			sink = uint64(sumFloats(floats))
		}
	})
}

var sink uint64

func sum4(keys []uint64) uint64 {
	var s0, s1, s2, s3 uint64
	for ; len(keys) >= 4; keys = keys[4:] {
		s0, s1, s2, s3 = s0+keys[0], s1+keys[1], s2+keys[2], s3+keys[3]
	}
	return s0 + s1 + s2 + s3
}

func sumFloats(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

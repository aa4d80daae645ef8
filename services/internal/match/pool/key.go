package pool

import (
	"math"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

const (
	// absent is the key of a slot without a value. It is in no interval.
	absent = 0

	signBit = 1 << 63

	// tieBits of a stamp order the tickets of one millisecond.
	tieBits = 19
	// createdLimit is above every creation time, in Unix milliseconds (year 2527).
	createdLimit = 1<<(63-tieBits) - 1
)

// key maps a value to an integer with the same order: a < b if and only if key(a) < key(b). Both zeros have one key.
// NaN has the key absent.
func key(v float64) uint64 {
	if v != v {
		return absent
	}
	if v == 0 {
		v = 0 // not -0
	}
	b := math.Float64bits(v)
	return b ^ (uint64(int64(b)>>63) | signBit)
}

// value is the inverse of key. It is NaN for absent.
func value(k uint64) float64 {
	return math.Float64frombits(k ^ (uint64(int64(^k)>>63) | signBit))
}

// stamp is a ticket's key in the column "created": the time, then bits of a hash of the id. Stamps order tickets by
// age, and are hardly ever equal.
func stamp(created int64, id string) uint64 {
	h := uint32(2166136261) // FNV-1a: the same in every process
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return startOf(uint64(created)) | uint64(h>>(32-tieBits))
}

// startOf is the lowest stamp of a millisecond.
func startOf(created uint64) uint64 { return signBit | created<<tieBits }

// createdOf is the time in a stamp.
func createdOf(stamp uint64) int64 { return int64(stamp &^ signBit >> tieBits) }

// interval is the set of keys k with low <= k < low+span.
type interval struct{ low, span uint64 }

func (i interval) holds(k uint64) bool { return k-i.low < i.span }

func from(low, high uint64) interval {
	if high <= low {
		return interval{}
	}
	return interval{low, high - low}
}

// Holds reports whether a filter selects a value of its attribute.
func Holds(f *pb.Filter, value float64) bool { return intervalOf(f).holds(key(value)) }

// ValueOf is the number that a filter looks at, of a ticket whose attributes are in the order of their names. It is
// false if the ticket has none.
func ValueOf(f *pb.Filter, t *pb.Ticket) (value float64, has bool) {
	switch {
	case f.GetCount() == CountPlayers:
		return float64(max(1, len(t.GetPlayers()))), true
	case f.GetCount() != "": // of a later version
		return 0, false
	case f.GetAttribute() == Created:
		return float64(t.GetCreated()), true
	}
	if at, has := slices.BinarySearch(t.GetAttributeNames(), f.GetAttribute()); has {
		return t.GetAttributeValues()[at], true
	}
	return 0, false
}

// intervalOf is the set of keys that a filter on an attribute selects.
func intervalOf(f *pb.Filter) interval {
	low, high := key(math.Inf(-1)), key(math.Inf(1))+1
	if f.Min != nil {
		low = key(*f.Min)
	}
	if f.Max != nil {
		high = key(*f.Max)
	}
	if low == absent || high == absent {
		return interval{} // nothing compares with NaN
	}
	if closed(f) {
		high++
	}
	return from(low, high)
}

// stampsOf is the set of stamps that a filter on "created" selects.
func stampsOf(f *pb.Filter) interval {
	low, high := uint64(0), uint64(createdLimit)
	if f.Min != nil {
		low = milliseconds(math.Ceil(*f.Min))
	}
	if f.Max != nil {
		high = milliseconds(math.Ceil(*f.Max))
	}
	if math.IsNaN(f.GetMin()) || math.IsNaN(f.GetMax()) {
		return interval{}
	}
	if closed(f) {
		high = milliseconds(math.Floor(*f.Max) + 1)
	}
	return from(startOf(low), startOf(high))
}

// closed reports whether a filter's upper bound is in it.
func closed(f *pb.Filter) bool { return f.Min != nil && f.Max != nil && *f.Min == *f.Max }

// milliseconds limits a bound to the times that tickets can have.
func milliseconds(v float64) uint64 {
	return uint64(min(max(v, 0), createdLimit))
}

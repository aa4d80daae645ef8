package report

import (
	"math"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Buckets have values of about the same size: four for each doubling, from a millionth to a trillion. Smaller ones are
// in bucket 0, greater ones in the last, and negative ones in those below 0.
const (
	// PerDoubling is how many buckets a value passes until it is twice as large.
	PerDoubling = 4
	smallest    = 1.0 / (1 << 20)
	largest     = 1 << 40
	lastBucket  = 60 * PerDoubling // the largest value's bucket
)

// bucketOf is the bucket of a value.
func bucketOf(v float64) int32 {
	size := math.Abs(v)
	if !(size >= smallest) {
		return 0
	}
	at := int32(min(math.Floor(math.Log2(size/smallest)*PerDoubling)+1, lastBucket))
	if v < 0 {
		return -at
	}
	return at
}

// valueIn is the value that lies at a share, from 0 to 1, of a bucket.
func valueIn(bucket int32, share float64) float64 {
	switch {
	case bucket > 0:
		return smallest * math.Exp2((float64(bucket-1)+share)/PerDoubling)
	case bucket < 0:
		return -valueIn(-bucket, 1-share)
	}
	return 0
}

// distribution counts values. The zero value has none.
type distribution struct {
	buckets []int32 // in ascending order
	counts  []int64
	sum     float64
}

// has reports whether a bucket has a value.
func (d *distribution) has(bucket int32) bool {
	_, found := slices.BinarySearch(d.buckets, bucket)
	return found
}

// add adds values of a bucket.
func (d *distribution) add(bucket int32, n int64) {
	at, found := slices.BinarySearch(d.buckets, bucket)
	if !found {
		d.buckets = slices.Insert(d.buckets, at, bucket)
		d.counts = slices.Insert(d.counts, at, 0)
	}
	d.counts[at] += n
}

// merge adds what was stored. room is asked for each bucket that is new; what has none is left out.
func (d *distribution) merge(m *pb.ReportDistribution, room func() bool) {
	counts := m.GetCounts()
	for i, bucket := range m.GetBuckets() {
		if i >= len(counts) || counts[i] <= 0 || bucket < -lastBucket || bucket > lastBucket {
			continue // it is damaged
		}
		if d.has(bucket) || room() {
			d.add(bucket, counts[i])
		}
	}
	d.sum += m.GetSum()
}

func (d *distribution) message(of named) *pb.ReportDistribution {
	return &pb.ReportDistribution{Kind: of.kind, Name: of.name, Buckets: slices.Clone(d.buckets),
		Counts: slices.Clone(d.counts), Sum: d.sum}
}

// count is how many values there are.
func (d *distribution) count() (n int64) {
	for _, one := range d.counts {
		n += one
	}
	return n
}

// quantile is the value below which a share of all values lies, about: a tenth too high or too low at most. It is not
// above all values.
func (d *distribution) quantile(share float64) float64 {
	rank, others := share*float64(d.count()), 0.0
	for i, n := range d.counts {
		bucket := d.buckets[i]
		last := i == len(d.counts)-1
		if !last && rank > float64(n) {
			rank, others = rank-float64(n), others+float64(n)*valueIn(bucket, 1)
			continue
		}
		value := valueIn(bucket, min(max(rank/float64(n), 0), 1))
		if !last {
			return value
		}
		// Of the values in the last bucket the mean is no less than this, and the greatest is no less than the mean.
		mean := min(max((d.sum-others)/float64(n), valueIn(bucket, 0)), valueIn(bucket, 1))
		if i == 0 {
			return mean // of values that are about the same
		}
		return min(value, mean)
	}
	return 0
}

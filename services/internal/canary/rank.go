package canary

import (
	"math"
	"sort"

	"matchmaker.dev/services/internal/report"
)

// values are values by bucket of a report's distribution: see report.PerDoubling. They belong to so many matches.
type values struct {
	counts  map[int32]int64
	n       int64
	sum     float64
	matches int64
}

func (v *values) add(buckets []int32, counts []int64, sum float64, matches int64) {
	if v.counts == nil {
		v.counts = map[int32]int64{}
	}
	for i, b := range buckets {
		if i < len(counts) && counts[i] > 0 {
			v.counts[b] += counts[i]
			v.n += counts[i]
		}
	}
	v.sum += sum
	v.matches += matches
}

func (v *values) mean() float64 { return v.sum / float64(v.n) }

// together is how many values there are in a match; at least 1.
func (v *values) together() float64 {
	return max(1, float64(v.n)/float64(max(v.matches, 1)))
}

// effect is by how much the probability that one value is more than another exceeds a half, and the variance of that if
// both are alike.
type effect struct {
	shift, variance float64
	weight          float64
}

// mannWhitney compares values with others by the test of Mann and Whitney, with ties. The values of one match count as
// one: the players of a match are not independent.
func mannWhitney(during, before *values) (e effect, ok bool) {
	n, m := float64(during.n), float64(before.n)
	if n == 0 || m == 0 {
		return effect{}, false
	}
	buckets := map[int32]bool{}
	for b := range during.counts {
		buckets[b] = true
	}
	for b := range before.counts {
		buckets[b] = true
	}
	order := make([]int32, 0, len(buckets))
	for b := range buckets {
		order = append(order, b)
	}
	sort.Slice(order, func(i, k int) bool { return order[i] < order[k] })
	below, more, ties := 0.0, 0.0, 0.0
	for _, b := range order {
		d, o := float64(during.counts[b]), float64(before.counts[b])
		more += d * (below + o/2)
		below += o
		t := d + o
		ties += t * (t*t - 1)
	}
	all := n + m
	e.shift = more/(n*m) - 0.5
	e.variance = (all + 1 - ties/(all*max(all-1, 1))) / (12 * n * m)
	e.variance *= max(during.together(), before.together())
	e.weight = n * m / all
	return e, true
}

// stratified combines the effects of configs or queues, as van Elteren's test does: each compares like with like.
func stratified(all []effect) (sum effect) {
	for _, e := range all {
		sum.shift += e.weight * e.shift
		sum.variance += e.weight * e.weight * e.variance
		sum.weight += e.weight
	}
	if sum.weight == 0 {
		return effect{}
	}
	sum.shift /= sum.weight
	sum.variance /= sum.weight * sum.weight
	return sum
}

// shiftOf is the effect if all values were greater by a number of buckets than they are. Within a bucket values are
// spread evenly. It is 0 if values are not positive: by which part those are greater is not known.
func (v *values) shiftOf(by float64) float64 {
	more := 0.0
	for a, na := range v.counts {
		for b, nb := range v.counts {
			p := 0.5
			switch {
			case a > 0 && b > 0:
				p = exceeds(float64(b-a) - by)
			case a > b:
				p = 1
			case a < b:
				p = 0
			}
			more += float64(na) * float64(nb) * p
		}
	}
	return more/(float64(v.n)*float64(v.n)) - 0.5
}

// exceeds is the probability that one of two numbers, each between 0 and 1, exceeds the other by more than d.
func exceeds(d float64) float64 {
	switch {
	case d <= -1:
		return 1
	case d <= 0:
		return 1 - (1+d)*(1+d)/2
	case d < 1:
		return (1 - d) * (1 - d) / 2
	}
	return 0
}

// changeOf is by which part values must be greater than they are so that the effect is a shift; less than 0 if they
// must be less. It is infinite if even eight times are too little, and -1 if an eighth is too much. Unlike a difference
// of means, a few very great values do not change it.
func (v *values) changeOf(shift float64) float64 {
	if shift < 0 {
		return 1/(1+v.changeOf(-shift)) - 1
	}
	const most = 3 * report.PerDoubling
	if v.n == 0 || v.shiftOf(most) < shift {
		return math.Inf(1)
	}
	from, to := 0.0, float64(most)
	for range 20 {
		if middle := (from + to) / 2; v.shiftOf(middle) < shift {
			from = middle
		} else {
			to = middle
		}
	}
	return math.Exp2(from/report.PerDoubling) - 1
}

package canary

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/services/internal/statistics"
)

// Matches of the same minutes are alike: those of a busy minute wait long together. So they say less than their number
// does. How much a slot differs from others, beside what independent matches would, is the drift: the hour before the
// canary tells.
const (
	// usualDrift is the root of the drift where the hour before tells nothing. Waits that are spread exponentially have it
	// if the mean of a slot is about 20 % away from that of others.
	usualDrift = 0.05
	// usualSlots is how many slots that counts for.
	usualSlots = 3
	// manySlots is from how many slots on the one that differs most counts like the second: an outage in the hour before
	// would hide what a canary does.
	manySlots = 5
)

// chance is how a difference that chance makes is spread around 0.
type chance struct {
	variance float64
	freedom  float64 // degrees of freedom
}

// exceeds is the probability of a difference like this, or a greater one.
func (c chance) exceeds(difference float64) float64 {
	return statistics.StudentTail(difference/math.Sqrt(c.variance), c.freedom)
}

// found is which difference a test finds with a probability of Power.
func (c chance) found(alpha float64) float64 {
	critical := statistics.StudentCritical(alpha, c.freedom) + statistics.StudentCritical(1-Power, c.freedom)
	return critical * math.Sqrt(c.variance)
}

// mostFreedom is that of a normal distribution, about.
const mostFreedom = 1000

// compared are the configs or queues of a comparison: those with the canary, and others that it is compared with.
type compared struct{ members, others []string }

// chanceOf is how differences of a quantity are spread when both uploads are alike, where independent matches would
// have a variance.
func (b *book) chanceOf(q quantity, of *compared, variance float64) chance {
	drift, freedom := b.drift(q, of)
	drift *= 1/b.count(q, of, true) + 1/b.count(q, of, false)
	all := variance + drift
	return chance{all, min(mostFreedom, freedom*all*all/(drift*drift))}
}

// apart is how far a slot before the canary is from the other ones, as a shift, and the variance of that where matches
// are independent.
type apart struct{ shift, variance float64 }

// drift is the variance of a slot beside that of its matches, and from how many slots it is known, those that are usual
// included. Each slot before the canary is compared with the other ones, as the canary is: what happens to all at the
// same time is taken off.
func (b *book) drift(q quantity, of *compared) (variance, freedom float64) {
	var slots []apart
	for _, slot := range b.slots {
		effects := func(strata []string) (all []effect) {
			for _, stratum := range strata {
				at := cell{stratum: stratum, quantity: q}
				if is := slot[at]; is != nil {
					if e, ok := mannWhitney(is, b.cells[at].without(is)); ok {
						all = append(all, e)
					}
				}
			}
			return all
		}
		if own := effects(of.members); len(own) > 0 {
			mine, theirs := stratified(own), stratified(effects(of.others))
			slots = append(slots, apart{mine.shift - theirs.shift, mine.variance + theirs.variance})
		}
	}
	beside := func(s apart) float64 { return s.shift*s.shift - s.variance }
	slices.SortFunc(slots, func(a, b apart) int { return cmp.Compare(beside(b), beside(a)) })
	if len(slots) >= manySlots {
		slots[0] = slots[1]
	}
	const usual = usualDrift * usualDrift
	sum, weights := usualSlots*usual, float64(usualSlots)
	for _, s := range slots { // one with few matches says little
		weight := usual * usual / ((usual + s.variance) * (usual + s.variance))
		sum, weights = sum+weight*beside(s), weights+weight
	}
	return max(sum/weights, usual/100), weights
}

// count is how many slots before the canary, or while it runs, have matches; fewer if these are in some of them mainly.
func (b *book) count(q quantity, of *compared, during bool) float64 {
	sum, squares := 0.0, 0.0
	for _, slot := range b.slots {
		n := 0.0
		for at, v := range slot {
			if at.quantity == q && at.during == during && at.canary == during && slices.Contains(of.members, at.stratum) {
				n += float64(v.n)
			}
		}
		sum, squares = sum+n, squares+n*n
	}
	return max(1, sum*sum/max(squares, 1))
}

// without are the values less some of them.
func (v *values) without(some *values) *values {
	rest := &values{matches: v.matches - some.matches}
	for bucket, n := range v.counts {
		rest.add([]int32{bucket}, []int64{n - some.counts[bucket]}, 0, 0)
	}
	rest.sum = v.sum - some.sum
	return rest
}

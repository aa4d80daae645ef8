package canary

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// chance is how a difference that chance makes is spread around 0.
type chance struct {
	variance float64
	slots    int // from which the variance is known; 0 if matches tell it
}

func (c chance) distribution() interface {
	Survival(x float64) float64
	Quantile(p float64) float64
} {
	if c.slots > 0 {
		return distuv.StudentsT{Sigma: 1, Nu: float64(c.slots)}
	}
	return distuv.UnitNormal
}

// exceeds is the probability of a difference like this, or a greater one.
func (c chance) exceeds(difference float64) float64 {
	return c.distribution().Survival(difference / math.Sqrt(c.variance))
}

// found is which difference a test finds with a probability of Power.
func (c chance) found(alpha float64) float64 {
	d := c.distribution()
	return (d.Quantile(1-alpha) + d.Quantile(Power)) * math.Sqrt(c.variance)
}

// variation is how many times as much as independent matches would have it values vary from one slot to the next, 1 at
// least. The matches of a busy minute are long together, so they say less than their number does. Each slot before the
// canary is compared with the other ones, as the canary is: what happens to all at the same time is taken off.
func (b *book) variation(q quantity, strata []string) chance {
	sum, slots := 0.0, 0
	for _, past := range b.past {
		var own, others []effect
		for _, stratum := range strata {
			at := cell{stratum: stratum, quantity: q}
			is := past[at]
			if is == nil {
				continue
			}
			if e, ok := mannWhitney(is, b.cells[at].without(is)); ok && slices.Contains(b.members, stratum) {
				own = append(own, e)
			} else if ok {
				others = append(others, e)
			}
		}
		if len(own) == 0 {
			continue
		}
		mine, theirs := stratified(own), stratified(others)
		if variance := mine.variance + theirs.variance; variance > 0 {
			difference := mine.shift - theirs.shift
			sum += difference * difference / variance
			slots++
		}
	}
	if slots < leastSlots || sum <= float64(slots) {
		return chance{variance: 1}
	}
	return chance{variance: sum / float64(slots), slots: slots}
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

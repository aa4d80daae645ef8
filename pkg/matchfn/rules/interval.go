package rules

import (
	"fmt"
	"math"
	"slices"
)

// interval is the numbers from low to high. It is empty if low is greater.
type interval struct{ low, high float64 }

var (
	everything = interval{math.Inf(-1), math.Inf(1)}
	nothing    = interval{math.Inf(1), math.Inf(-1)}
)

func (i interval) empty() bool { return i.low > i.high }

func (i interval) has(n float64) bool { return i.low <= n && n <= i.high }

// bounded reports whether no number of it is infinite.
func (i interval) bounded() bool { return !math.IsInf(i.low, 0) && !math.IsInf(i.high, 0) }

// above reports whether all its numbers are above another one's, by more than rounding.
func (i interval) above(o interval) bool {
	apart := i.low - o.high
	return apart > 0 && !(apart <= 1e-9*max(math.Abs(i.low), math.Abs(o.high)))
}

// and returns the numbers that are in both.
func (i interval) and(o interval) interval { return interval{max(i.low, o.low), min(i.high, o.high)} }

// or returns the numbers from the least of both to the greatest.
func (i interval) or(o interval) interval { return interval{min(i.low, o.low), max(i.high, o.high)} }

// with returns the numbers that an operation makes of numbers of both. It rounds as the operation does.
func (i interval) with(o interval, op func(a, b float64) float64) interval {
	if i.empty() || o.empty() {
		return nothing
	}
	all := nothing
	for _, a := range []float64{i.low, i.high} {
		for _, b := range []float64{o.low, o.high} {
			n := op(a, b)
			if math.IsNaN(n) {
				return everything
			}
			all = all.or(interval{n, n})
		}
	}
	return all
}

// huge is how great numbers may be whose sums cannot become infinite.
const huge = 1e290

// rounded is an interval around what a sum of numbers of it, or a part of such a sum, becomes by rounding.
func (i interval) rounded() interval {
	if i.empty() {
		return i
	}
	if most := max(math.Abs(i.low), math.Abs(i.high)); most < huge {
		return interval{i.low - most*1e-9, i.high + most*1e-9}
	}
	return everything
}

// ever returns the numbers of a bound at all times, and whether it is off at one of them.
func (b *Bound) ever() (numbers interval, off bool) {
	least, greatest, off := b.Over(0, math.Inf(1))
	return interval{least, greatest}, off
}

// over returns the numbers that are in a range at any time, where each end is as loose as it ever is.
func (s Range) over() interval {
	all := everything
	if n, off := s.Min.ever(); !off {
		all.low = n.low
	}
	if n, off := s.Max.ever(); !off {
		all.high = n.high
	}
	return all
}

// at is over for the times from one to another. No step is between them, and the last of them does not count.
func (s Range) at(from, to float64) interval {
	of := func(b *Bound) (least, greatest float64, off bool) {
		if b == nil || b.Linear == nil {
			return b.Over(from, from)
		}
		return b.Over(from, to)
	}
	all := everything
	if least, _, off := of(s.Min); !off {
		all.low = least
	}
	if _, greatest, off := of(s.Max); !off {
		all.high = greatest
	}
	return all
}

// excludes returns why no number of an interval is ever in a range, or nothing if one may be.
func (s Range) excludes(numbers interval) string {
	if !s.meets(numbers) {
		switch all := s.over(); {
		case !s.meets(everything):
			return "min is greater than max, whatever the time"
		case all.high < 0 && numbers.low == 0:
			return "max is negative"
		case all.low > numbers.high:
			return fmt.Sprintf("min is never less than %v, and there are at most %v", all.low, numbers.high)
		case all.high < numbers.low:
			return fmt.Sprintf("max is never more than %v, and there are at least %v", all.high, numbers.low)
		default:
			return fmt.Sprintf("at no time is a number from %v to %v between min and max", numbers.low, numbers.high)
		}
	}
	return ""
}

// meets reports whether a number of an interval may be in a range. If both ends have the same clock, it looks at one
// time after the other.
func (s Range) meets(numbers interval) bool {
	if s.Min == nil || s.Max == nil || s.Min.Clock != s.Max.Clock {
		return !s.over().and(numbers).empty()
	}
	times := []float64{0}
	for _, b := range []*Bound{s.Min, s.Max} {
		for _, step := range b.Steps {
			times = append(times, step.After)
		}
	}
	slices.Sort(times)
	for i, from := range times {
		to := math.Inf(1)
		if i+1 < len(times) {
			to = times[i+1]
		}
		if !s.at(from, to).and(numbers).empty() {
			return true
		}
	}
	return false
}

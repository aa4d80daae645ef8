package rules

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rounding"
)

// Clock is which age a bound follows, in seconds since a ticket was created.
type Clock string

const (
	// Oldest is the age of the oldest ticket of the match.
	Oldest Clock = "oldest"
	// Newest is the age of the newest ticket of the match.
	Newest Clock = "newest"
	// Mean is the mean age of the tickets of the match.
	Mean Clock = "mean"
	// Anchor is the age of the match's anchor.
	Anchor Clock = "anchor"
	// Own is the age of each ticket. A pair of tickets must be within the bounds of both. Only the bounds of Spread and
	// Latency have this clock.
	Own Clock = "each"
)

// Bound is a number that changes with an age.
type Bound struct {
	Clock Clock
	// Start is the number at first, or nothing if Off is set: then the bound does not bound anything.
	Start float64
	Off   bool
	// Steps replace the number; their times ascend. Linear changes it by and by. Only one of them is set.
	Steps  []Step
	Linear *Linear
}

// Step is the number from an age on.
type Step struct {
	After float64
	Value float64
	Off   bool
}

// Linear adds Delta to the number every Every seconds, or in proportion to the time if Every is 0: then Delta is for a
// second. The number does not go beyond Limit.
type Linear struct{ Delta, Every, Limit float64 }

// Times returns how often Delta was added at an age.
func (l *Linear) Times(age float64) float64 {
	return math.Floor(age/l.Every + rounding.Of(age/l.Every))
}

// Fixed returns a bound that never changes.
func Fixed(n float64) *Bound { return &Bound{Clock: Oldest, Start: n} }

// Exactly returns the range of one number that never changes.
func Exactly(n float64) Range { return Range{Fixed(n), Fixed(n)} }

// isTruth reports whether it is always true or false, which are 1, and 0 or nothing.
func (b *Bound) isTruth() bool {
	good := func(n float64) bool { return n == 0 || n == 1 }
	return good(b.Start) && b.Linear == nil && !slices.ContainsFunc(b.Steps, func(s Step) bool { return !good(s.Value) })
}

// isWhole reports whether all numbers that it starts with and steps to are whole.
func (b *Bound) isWhole() bool {
	return b.Start == math.Trunc(b.Start) &&
		!slices.ContainsFunc(b.Steps, func(s Step) bool { return s.Value != math.Trunc(s.Value) })
}

// At returns the number at an age, and whether there is one.
func (b *Bound) At(age float64) (float64, bool) {
	if b == nil {
		return 0, false
	}
	if l := b.Linear; l != nil {
		times := age
		if l.Every > 0 {
			times = l.Times(age)
		}
		n := b.Start + times*l.Delta
		if l.Delta >= 0 && n > l.Limit || l.Delta < 0 && n < l.Limit {
			n = l.Limit
		}
		return n, true
	}
	n, off := b.Start, b.Off
	for _, s := range b.Steps {
		if s.After > age {
			break
		}
		n, off = s.Value, s.Off
	}
	return n, !off
}

// Step makes it another number from an age on, which is not below the last step's.
func (b *Bound) Step(after, value float64) {
	if n := len(b.Steps); n > 0 && b.Steps[n-1].After == after {
		b.Steps = b.Steps[:n-1]
	}
	if after == 0 {
		b.Start = value
		return
	}
	b.Steps = append(b.Steps, Step{After: after, Value: value})
}

// Constant reports whether the number never changes.
func (b *Bound) Constant() bool { return b == nil || len(b.Steps) == 0 && b.Linear == nil }

// Over returns the least and the greatest number at all ages from one to another, which may be infinite, and whether it
// is off at one of them.
func (b *Bound) Over(from, to float64) (least, greatest float64, off bool) {
	least, greatest = math.Inf(1), math.Inf(-1)
	look := func(age float64) {
		n, on := b.At(age)
		if !on {
			off = true
			return
		}
		least, greatest = math.Min(least, n), math.Max(greatest, n)
	}
	if b == nil {
		return least, greatest, true
	}
	look(from)
	if b.Linear != nil && math.IsInf(to, 1) {
		least, greatest = math.Min(least, b.Linear.Limit), math.Max(greatest, b.Linear.Limit)
		return least, greatest, off
	}
	look(to)
	for _, s := range b.Steps {
		if s.After > from && s.After < to {
			look(s.After)
		}
	}
	return least, greatest, off
}

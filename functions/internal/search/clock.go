package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rules"
)

// While an anchor is tried, each look at a bound notes when it would see something else. The time only goes on, so all
// ages grow alike.

// note notes that something changes after so many seconds.
func (s *search) note(seconds float64) {
	if seconds < s.till {
		s.till = seconds
	}
}

// noteChange notes when a bound at an age has another number.
func (s *search) noteChange(b *rules.Bound, age float64) {
	if !b.Constant() {
		s.note(changes(b, age))
	}
}

// changes returns after how many seconds a bound at an age has another number, infinite for never.
func changes(b *rules.Bound, age float64) float64 {
	l := b.Linear
	if l == nil {
		for _, step := range b.Steps {
			if step.After > age {
				return step.After - age
			}
		}
		return math.Inf(1)
	}
	switch n, _ := b.At(age); {
	case l.Delta == 0 || n == l.Limit:
		return math.Inf(1)
	case l.Every > 0:
		return (l.Times(age)+1)*l.Every - age
	}
	return 0
}

// noteMost notes when it changes whether a number is within a bound at an age, which it is or is not now.
func (s *search) noteMost(b *rules.Bound, age, n float64, within bool) {
	switch {
	case b.Constant():
	case !rises(b):
		s.note(changes(b, age))
	case !within:
		s.note(reaches(b, age, n))
	}
}

// rises reports whether a bound never becomes less.
func rises(b *rules.Bound) bool {
	if b.Linear != nil {
		return b.Linear.Delta >= 0
	}
	before, off := b.Start, b.Off
	for _, step := range b.Steps {
		if off && !step.Off || !step.Off && step.Value < before {
			return false
		}
		before, off = step.Value, step.Off
	}
	return true
}

// reaches returns after how many seconds a bound that rises lets a number be that it does not let be at an age. It is a
// little too early.
func reaches(b *rules.Bound, age, n float64) float64 {
	if l := b.Linear; l != nil {
		if l.Delta == 0 || !(n <= l.Limit) {
			return math.Inf(1)
		}
		at := (n - b.Start) / l.Delta * (1 - 1e-9)
		if l.Every > 0 {
			at = math.Ceil(at) * l.Every
		}
		return at - age
	}
	for _, step := range b.Steps {
		if step.After > age && (step.Off || n <= step.Value) {
			return step.After - age
		}
	}
	return math.Inf(1)
}

// loosestAt returns the age at which a bound is the loosest that it can be in a match with the anchor and what was
// chosen. It is infinite where a match may have any age.
func (b *builder) loosestAt(bound *rules.Bound) float64 {
	switch {
	case bound.Clock == rules.Anchor || bound.Clock == rules.Oldest && b.rules.Priority == "":
		return b.pool.age[b.anchor]
	case bound.Clock == rules.Newest:
		return b.newest
	case b.rules.Priority != "":
		return math.Inf(1)
	}
	return b.pool.age[b.anchor]
}

// noteLoosest notes when the loosest that a bound can be has another number.
func (b *builder) noteLoosest(bound *rules.Bound) {
	if bound.Constant() {
		return
	}
	if age := b.loosestAt(bound); !math.IsInf(age, 1) {
		b.note(changes(bound, age))
	}
}

// noteRefused notes when a span is not too wide any more.
func (b *builder) noteRefused() {
	for i := range b.pruners {
		g := &b.pruners[i]
		if g.near == nil || g.bound.Constant() || g.bound.Clock == rules.Newest {
			continue // fit notes it
		}
		if age := b.loosestAt(g.bound); !math.IsInf(age, 1) {
			b.noteMost(g.bound, age, b.refused[i], math.IsInf(b.refused[i], 1))
		}
	}
}

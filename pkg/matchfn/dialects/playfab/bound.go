package playfab

import (
	"errors"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

var (
	errTight = errors.New("its limit becomes tighter with time, so that it cannot count by the ticket that waits shortest")
	errLater = errors.New("it is enabled after it was not, so that it cannot count by the ticket that waits shortest")
	errLimit = errors.New("a linear expansion needs a Limit")
	errMany  = errors.New("its expansion has too many steps")
)

// bound is a number of the rule with its expansion. A sign of 1 means that it grows, -1 that it shrinks, 0 that its
// expansion replaces it. A bound by the ticket that waits shortest must not become tighter.
func (rule *Rule) bound(start float64, clock rules.Clock, sign float64) (*rules.Bound, error) {
	b := &rules.Bound{Clock: clock, Start: start}
	until := math.Inf(1)
	if rule.Optional != nil {
		until = *rule.Optional
	}
	if e := rule.Expansion; e != nil && e.Linear {
		if err := grow(b, e, sign, until); err != nil {
			return nil, err
		}
	} else if e != nil {
		replace(b, e, until)
	}
	if rule.Optional != nil {
		if until == 0 {
			b.Start, b.Off = 0, true
		} else {
			b.Steps = append(b.Steps, rules.Step{After: until, Off: true})
		}
	}
	if b.Constant() {
		b.Clock = rules.Oldest // as for a number that never changes
	}
	if len(b.Steps) > rules.MaxSteps {
		return nil, errMany
	}
	if clock == rules.Newest && tightens(b, sign) {
		return nil, errTight
	}
	return b, nil
}

// grow adds the steps of a linear expansion, up to a time.
func grow(b *rules.Bound, e *Expansion, sign, until float64) error {
	limit := e.Limit
	if !e.HasLimit {
		if sign > 0 {
			return errLimit
		}
		limit = 0
	}
	if e.Delta <= 0 || sign == 0 {
		return errors.New("a linear expansion needs a Delta greater than 0")
	}
	steps := math.Ceil((limit - b.Start) * sign / e.Delta)
	if fits := math.Ceil(until/e.Every) - 1; fits < steps {
		steps = fits
	}
	if steps >= rules.MaxSteps {
		if !math.IsInf(until, 1) {
			return errMany
		}
		b.Linear = &rules.Linear{Delta: sign * e.Delta, Every: e.Every, Limit: limit}
		return nil
	}
	for k := 1.0; k <= steps; k++ {
		value := b.Start + sign*k*e.Delta
		if (value-limit)*sign > 0 {
			value = limit
		}
		b.Steps = append(b.Steps, rules.Step{After: k * e.Every, Value: tidy(value)})
	}
	return nil
}

// tidy removes what adding decimal fractions leaves behind.
func tidy(v float64) float64 {
	if rounded := math.Round(v*1e9) / 1e9; math.Abs(rounded-v) <= 1e-12*math.Max(1, math.Abs(v)) {
		return rounded
	}
	return v
}

// replace takes the overrides: the first counts from the beginning, the last for ever.
func replace(b *rules.Bound, e *Expansion, until float64) {
	for i, o := range e.Overrides {
		after := float64(i) * e.Every
		switch {
		case i == 0:
			b.Start, b.Off = o.Value, o.Off
		case after < until:
			last := rules.Step{Value: b.Start, Off: b.Off}
			if n := len(b.Steps); n > 0 {
				last = b.Steps[n-1]
			}
			if last.Value != o.Value || last.Off != o.Off {
				b.Steps = append(b.Steps, rules.Step{After: after, Value: o.Value, Off: o.Off})
			}
		}
	}
}

// tightens reports whether a bound is tighter at a time than before. Off is the loosest.
func tightens(b *rules.Bound, sign float64) bool {
	value, off := b.Start, b.Off
	for _, s := range b.Steps {
		if off && !s.Off || !off && !s.Off && (s.Value-value)*sign < 0 {
			return true
		}
		value, off = s.Value, s.Off
	}
	return false
}

// active is when an equality counts; nil for always.
func (rule *Rule) active() (*rules.Bound, error) {
	b := &rules.Bound{Clock: rules.Newest, Start: 1}
	if e := rule.Expansion; e != nil {
		if e.Enabled == nil {
			return nil, errors.New("its expansion has no EnabledOverrides")
		}
		for i, on := range e.Enabled {
			after := float64(i) * e.Every
			switch {
			case i > 0 && on && !e.Enabled[i-1]:
				return nil, errLater
			case i == 0 && !slices.Contains(e.Enabled, true):
				return nil, errors.New("it is never enabled")
			case !on && len(b.Steps) == 0:
				b.Steps = []rules.Step{{After: after, Off: true}}
			}
		}
	}
	if o := rule.Optional; o != nil && (len(b.Steps) == 0 || b.Steps[0].After > *o) {
		b.Steps = []rules.Step{{After: *o, Off: true}}
	}
	if len(b.Steps) == 0 {
		return nil, nil
	}
	return b, nil
}

// optional is when a rule counts by SecondsUntilOptional alone: until all tickets have waited so long. Nil is always.
func (rule *Rule) optional() *rules.Bound {
	if rule.Optional == nil {
		return nil
	}
	return &rules.Bound{Clock: rules.Newest, Start: 1, Steps: []rules.Step{{After: *rule.Optional, Off: true}}}
}

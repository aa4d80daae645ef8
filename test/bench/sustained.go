package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// sustained finds the highest rates of arrivals at which the queue does not grow.
func (r *round) sustained(ctx context.Context, i *installation) error {
	without := map[bool]int{} // by requests
	for k, m := range r.manners() {
		p, err := r.ready(ctx, i, fmt.Sprintf("sustained-%d", k), m.hosted)
		if err != nil {
			return err
		}
		from := r.Least
		if m.hosted {
			from /= 2
		}
		rate, err := highest(from, func(rate int) (bool, error) { return r.holds(ctx, p, m, rate) })
		if err != nil {
			return err
		}
		reading := r.add("highest rate, "+m.String(), perSec, float64(rate))
		if !m.hosted {
			without[m.one] = rate
		} else if without[m.one] > 0 {
			reading.than("no server", float64(without[m.one])).atLeast(0.8)
		}
	}
	return nil
}

// bisections is how often the gap between a rate that holds and one that does not is halved.
const bisections = 3

// highest finds the highest rate that holds, to about a sixteenth. It begins with a rate that should hold.
func highest(from int, holds func(rate int) (bool, error)) (int, error) {
	good, bad := 0, 0
	try := func(rate int) error {
		ok, err := holds(rate)
		if ok {
			good = rate
		} else {
			bad = rate
		}
		return err
	}
	for rate := from; bad == 0; rate = rate * 3 / 2 {
		if err := try(rate); err != nil {
			return 0, err
		}
	}
	for range bisections {
		rate := (good + bad) / 2 / 100 * 100
		if rate <= good {
			break
		}
		if err := try(rate); err != nil {
			return 0, err
		}
	}
	return good, nil
}

// sustainedPatience is how long a player waits while a rate is tried.
const sustainedPatience = 20 * time.Second

// holds reports whether a rate is sustained.
func (r *round) holds(ctx context.Context, p *project, m manner, rate int) (bool, error) {
	a := r.arrive(p, m, rate, r.Hold)
	a.patience = sustainedPatience
	_, err := p.together(ctx, a)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	g := a.growth()
	r.report("%d/s, %s: %s, %v", rate, m, g, err)
	// A ticket that is not assigned in time shows that the queue grows.
	return err == nil && !g.grows() && !g.isLate(), nil
}

// growth compares how long the first and the last players waited.
type growth struct{ first, last, late time.Duration }

func (a *arrivals) growth() growth {
	all, late := a.whole(), times{}
	for i := range a.tickets {
		late = append(late, a.tickets[i].late)
	}
	third := len(all) / 3
	first, last := slices.Clone(all[:third]), slices.Clone(all[len(all)-third:])
	return growth{first.quantile(0.50), last.quantile(0.50), late.quantile(0.99)}
}

// Beyond these limits the queue grows, or the players do not arrive at the rate.
const (
	mostGrowth   = 50 * time.Millisecond
	mostLateness = 100 * time.Millisecond
)

func (g growth) grows() bool { return g.last > 2*g.first+mostGrowth }

func (g growth) isLate() bool { return g.late > mostLateness }

func (g growth) String() string {
	return fmt.Sprintf("p50 %s, at the end %s, the generator late by %s (p99)", g.first.Round(time.Millisecond),
		g.last.Round(time.Millisecond), g.late.Round(time.Millisecond))
}

package main

import (
	"context"
	"fmt"
	"time"
)

// pairRate is how many tickets come a second when a system is next to idle. They come in pairs.
const pairRate = 8

// steady measures how long players wait that arrive at a steady rate, and what each costs.
func (r *round) steady(ctx context.Context, i *installation) error {
	for k, m := range r.manners() {
		p, err := r.ready(ctx, i, fmt.Sprintf("steady-%d", k), m.hosted)
		if err != nil {
			return err
		}
		quiet := m
		quiet.pairs = true
		if err := r.atRate(ctx, p, quiet, pairRate); err != nil {
			return err
		}
		for _, rate := range r.Rate {
			if err := r.atRate(ctx, p, m, rate); err != nil {
				return err
			}
		}
	}
	return nil
}

// atRate measures one rate.
func (r *round) atRate(ctx context.Context, p *project, m manner, rate int) (err error) {
	load := fmt.Sprintf("%s/s, %s", count(rate), m)
	if m.pairs {
		load = fmt.Sprintf("%d pairs/s, %s", rate/2, m)
	}
	r.report("%s", load)
	a := r.arrive(p, m, rate, r.For)
	var where *observer
	if r.Where {
		watching, enough := context.WithCancel(ctx)
		defer enough()
		if where, err = observe(watching, p.NATS(), p.name); err != nil {
			return err
		}
	}
	used, err := p.together(ctx, a)
	p50, p99 := grew, grew
	r.checkLate(a.growth())
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		r.report("%v", err)
	case a.growth().grows():
		r.report("the queue grows: %s", a.growth())
	default:
		waits := a.waits()
		p50, p99 = in(millis, waits.quantile(0.5)), in(millis, waits.quantile(0.99))
	}
	r.add(load+": p50", millis, p50)
	if m.pairs {
		return nil // too few for more
	}
	r.add(load+": p99", millis, p99)
	r.costs(load, used, len(a.tickets), p50)
	if where != nil && err == nil {
		return r.where(ctx, load, where, a)
	}
	return nil
}

// costs adds the processor time of each of n tickets, unless p50 says that the rate was too high.
func (r *round) costs(load string, used spent, n int, p50 float64) {
	each := func(d time.Duration) float64 {
		if p50 == grew {
			return grew
		}
		return in(micros, d) / float64(max(1, n))
	}
	r.add(load+": processor time a ticket", micros, each(used.system()))
	if r.Parts {
		for _, part := range used.parts() {
			r.add(load+": of it "+part, micros, each(used[part]))
		}
	}
}

// where adds the mean time of each step of a ticket.
func (r *round) where(ctx context.Context, load string, w *observer, a *arrivals) error {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := w.all(limited, a.tickets[len(a.tickets)-1].id); err != nil {
		return err
	}
	for _, s := range w.steps(a.tickets) {
		r.add(load+": "+s.name, millis, s.mean)
	}
	return nil
}

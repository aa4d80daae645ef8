package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// capacity measures players that come again as soon as they are assigned: tickets per second while the same number
// waits, and the cost of each.
func (r *round) capacity(ctx context.Context, i *installation) error {
	for k, m := range r.manners() {
		p, err := r.ready(ctx, i, fmt.Sprintf("capacity-%d", k), m.hosted)
		if err != nil {
			return err
		}
		for _, n := range r.Players {
			if err := r.circle(ctx, p, m, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// circle measures so many players.
func (r *round) circle(ctx context.Context, p *project, m manner, n int) error {
	load := fmt.Sprintf("%s players, %s", count(n), m)
	r.report("%s", load)
	a := p.arrive(m, 1, 0, 0)
	from := time.Now().Add(r.Warm)
	to := from.Add(r.For)
	parts, errs := make([]times, n), make([]error, n)
	var all sync.WaitGroup
	for k := range n {
		all.Go(func() { parts[k], errs[k] = a.again(ctx, k, from, to) })
	}
	if err := pause(ctx, time.Until(from)); err != nil {
		return err
	}
	before := p.used()
	if err := pause(ctx, time.Until(to)); err != nil {
		return err
	}
	used := p.used().since(before)
	all.Wait()
	if err := first(errs); err != nil {
		return err
	}
	var waits times
	for _, part := range parts {
		waits = append(waits, part...)
	}
	r.add(load+": tickets", perSec, float64(len(waits))/r.For.Seconds())
	r.add(load+": p50", millis, in(millis, waits.quantile(0.5)))
	r.costs(load, used, len(waits), 0)
	return nil
}

// again is one player that creates one ticket after the other. Tickets that are assigned between from and to count. A
// player that still waits at the end leaves, since there may be no opponent.
func (a *arrivals) again(ctx context.Context, i int, from, to time.Time) (waited times, err error) {
	w, err := dial(ctx, a.host)
	if err != nil {
		return nil, err
	}
	defer w.close()
	for n := i; ctx.Err() == nil; n++ {
		p := arrival{player: n, skill: float64(n * 7919 % reach), until: to.Add(time.Second)}
		err := a.match(w, &p)
		if now := time.Now(); now.After(to) {
			return waited, nil
		} else if err == nil && now.After(from) {
			waited = append(waited, p.creating+p.waiting)
		}
		if err != nil {
			return nil, err
		}
	}
	return waited, context.Cause(ctx)
}

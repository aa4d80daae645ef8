package main

import (
	"context"
	"fmt"
	"time"
)

// burst measures players that all come within a second, each with a new connection.
func (r *round) burst(ctx context.Context) error {
	for _, m := range r.manners() {
		if err := r.with(ctx, func(i *installation) error { return r.rush(ctx, i, m) }); err != nil {
			return err
		}
	}
	return nil
}

// Before the burst, players come at burstWarm a second.
const burstWarm = 500

// rush measures one manner, on a system of its own: so no connection is left from another one.
func (r *round) rush(ctx context.Context, i *installation, m manner) error {
	p, err := r.ready(ctx, i, "burst", m.hosted)
	if err != nil {
		return err
	}
	load := fmt.Sprintf("%s in a second, %s", count(r.Burst), m)
	r.report("%s", load)
	a := r.arrive(p, m, r.Burst, time.Second)
	a.warmRate, a.mostBusy = burstWarm, r.Burst
	_, err = p.together(ctx, a)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	last, p50 := in(seconds, a.ends().quantile(1)), in(millis, a.waits().quantile(0.5))
	if err != nil {
		r.report("%v (each player has a connection: see ulimit -n)", err)
		last, p50 = grew, grew
	}
	r.add(load+": until the last is assigned", seconds, last)
	r.add(load+": p50 of the wait", millis, p50)
	return nil
}

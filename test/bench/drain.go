package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// watched is how many of the waiting tickets are watched while they are assigned. Watching all would take too much of
// the machine.
const watched = 250

// drain measures how long it takes to assign many waiting tickets, from the config to the last assignment.
func (r *round) drain(ctx context.Context, i *installation) error {
	for _, n := range r.Waiting {
		r.report("%d come", n)
		p, err := r.newProject(ctx, i, fmt.Sprintf("drain-%d", n))
		if err != nil {
			return err
		}
		c := newCrowd(p, n)
		// The order of skills is not the order of arrival.
		if err := c.come(ctx, 0, func(i int) float64 { return float64(i * 7919 % reach) }); err != nil {
			return err
		}
		waits, err := c.leave(ctx)
		if err != nil {
			return err
		}
		r.add(fmt.Sprintf("%s wait: until the last is assigned", count(n)), seconds,
			in(seconds, waits.quantile(1)))
	}
	return nil
}

// leave puts the config, and returns how long the watched tickets then waited for their assignments. It also waits for
// the assignments of all others.
func (c *crowd) leave(ctx context.Context) (times, error) {
	assignedAt := make([]time.Time, min(watched, len(c.ids)))
	errs := make([]error, len(assignedAt))
	var watching sync.WaitGroup
	for k := range assignedAt {
		watching.Go(func() {
			errs[k] = c.watch(ctx, k*len(c.ids)/len(assignedAt))
			assignedAt[k] = time.Now()
		})
	}
	_ = pause(ctx, time.Second) // all watchers wait before the config is put
	start := time.Now()
	err := c.put(ctx, duel, anybody(false))
	watching.Wait()
	if err := first(append(errs, err)); err != nil {
		return nil, err
	}
	waits := make(times, len(assignedAt))
	for k, at := range assignedAt {
		waits[k] = at.Sub(start)
	}
	return waits, c.each(ctx, 0, c.look)
}

// watch returns when a ticket is assigned.
func (c *crowd) watch(ctx context.Context, i int) error {
	w, err := dial(ctx, c.host)
	if err != nil {
		return err
	}
	defer w.close()
	return c.look(w, i)
}

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/services/internal/platform/catalog"
)

// restart measures players that come while the runner is restarted and a crowd stands by, then the same with two
// runners, one of which is restarted.
func (r *round) restart(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "restart", false)
	if err != nil {
		return err
	}
	c := newCrowd(p, 0)
	for _, n := range slices.Sorted(slices.Values(r.Crowd)) {
		if err := r.standBy(ctx, c, n); err != nil {
			return err
		}
		load := fmt.Sprintf("among %s", count(n))
		ready, longest, err := r.interrupt(ctx, p, n)
		if err != nil {
			return err
		}
		r.add(load+", the only runner: ready after", seconds, in(seconds, ready))
		r.add(load+", the only runner: longest wait", seconds, in(seconds, longest))
	}
	// The second runner comes last, since it would share the load of larger crowds.
	n := slices.Max(r.Crowd)
	if err := i.Add(ctx, catalog.Runner, "second"); err != nil {
		return err
	}
	if err := pause(ctx, r.Settle+extra(n)); err != nil {
		return err
	}
	_, longest, err := r.interrupt(ctx, p, n)
	if err != nil {
		return err
	}
	r.add(fmt.Sprintf("among %s, one of two runners: longest wait", count(n)), seconds, in(seconds, longest))
	return nil
}

// restartRate is how many players a second see the restart.
const restartRate = 500

// extra is how much longer a restart may take with so many tickets that stand by.
func extra(standBy int) time.Duration { return time.Duration(standBy) * 20 * time.Microsecond }

// interrupt restarts the first runner while players come. It returns how long the new process took to be ready, and
// the longest wait of a player.
func (r *round) interrupt(ctx context.Context, p *project, standBy int) (ready, longest time.Duration, err error) {
	r.report("the runner is restarted")
	a := r.arrive(p, manner{}, restartRate, r.Warm+2*r.For+extra(standBy))
	a.mostBusy = 4 * mostBusy
	a.begin(ctx)
	var playing sync.WaitGroup
	playing.Go(func() { a.play(ctx, a.tickets) })
	if err = pause(ctx, r.Warm); err == nil {
		ready, err = p.Restart(ctx, catalog.Runner)
	}
	playing.Wait()
	a.pool.stop()
	if err := first([]error{err, context.Cause(ctx), a.err()}); err != nil {
		return 0, 0, err
	}
	return ready, a.whole().quantile(1), nil
}

package main

import (
	"context"
	"fmt"
)

// idle measures the processor time of projects that have a config and no tickets.
func (r *round) idle(ctx context.Context, i *installation) error {
	rest := func() (float64, error) {
		if err := pause(ctx, r.Settle); err != nil { // the creation of the projects causes work
			return 0, err
		}
		before := i.used()
		err := pause(ctx, r.For)
		return i.used().since(before).system().Seconds() / r.For.Seconds(), err
	}
	none, err := rest()
	if err != nil {
		return err
	}
	r.report("%d projects begin", r.Idle)
	for n := range r.Idle {
		p := &project{installation: i, name: fmt.Sprintf("idle-%d", n)}
		if err := p.put(ctx, duel, anybody(false)); err != nil {
			return err
		}
	}
	many, err := rest()
	if err != nil {
		return err
	}
	r.add(count(r.Idle)+" projects without players", cores, many).than("none", none)
	return nil
}

package main

import (
	"context"
	"fmt"
)

// configs measures many configs over the same tickets, beside one.
func (r *round) configs(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "configs", false)
	if err != nil {
		return err
	}
	one, err := r.live(ctx, p)
	if err != nil {
		return err
	}
	for n := 1; n < r.Configs; n++ {
		if err := p.put(ctx, fmt.Sprintf("duel-%d", n), anybody(false)); err != nil {
			return err
		}
	}
	if err := pause(ctx, r.Settle); err != nil {
		return err
	}
	many, err := r.live(ctx, p)
	if err != nil {
		return err
	}
	load := fmt.Sprintf("%d over %s/s", r.Configs, count(r.Live))
	r.add(load+": p50", millis, many.p50).than("one config", one.p50)
	r.add(load+": p99", millis, many.p99).than("one config", one.p99)
	r.add(load+": the runner's processor time a ticket", micros, many.runner).than("one config", one.runner).
		atMost(configsAim)
	return nil
}

// configsAim is for the runner's processor time beside one config.
const configsAim = 1.5

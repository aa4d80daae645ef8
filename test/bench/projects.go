package main

import (
	"context"
	"fmt"

	"matchmaker.dev/services/internal/platform/catalog"
)

// projects measures many projects, beside one with as many tickets, and the memory of each in the runner, without its
// instances.
func (r *round) projects(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "alone", false)
	if err != nil {
		return err
	}
	alone, err := r.liveAt(ctx, r.Projects*r.Each, p)
	if err != nil {
		return err
	}
	runner := i.PID(catalog.Runner)
	before := memory(runner)
	r.report("%d projects begin", r.Projects)
	all := make([]*project, r.Projects)
	for k := range all {
		if all[k], err = r.ready(ctx, i, fmt.Sprintf("project-%d", k), false); err != nil {
			return err
		}
	}
	if err := pause(ctx, r.Settle); err != nil {
		return err
	}
	many, err := r.liveAt(ctx, r.Each, all...)
	if err != nil {
		return err
	}
	load := fmt.Sprintf("%d with %d/s each", r.Projects, r.Each)
	beside := fmt.Sprintf("one with %s/s", count(r.Projects*r.Each))
	r.add(load+": p50", millis, many.p50).than(beside, alone.p50).atMost(projectsAim)
	r.add(load+": p99", millis, many.p99).than(beside, alone.p99).atMost(projectsAim)
	r.add(load+": the runner's memory for each, without its instances", mib,
		(memory(runner)-before)/float64(r.Projects))
	return nil
}

// projectsAim is for times beside one project.
const projectsAim = 1.3

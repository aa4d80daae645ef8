package main

import (
	"context"
	"fmt"

	"matchmaker.dev/services/internal/platform/catalog"
)

// projects measures many projects, beside one with as many tickets, and the memory of each in the runner, without its
// instances. Players also come in pairs: then none waits for an opponent, which takes longer where fewer come.
func (r *round) projects(ctx context.Context, i *installation) error {
	p, err := r.ready(ctx, i, "alone", false)
	if err != nil {
		return err
	}
	var alone [2]life
	for k, m := range []manner{{}, {pairs: true}} {
		if alone[k], err = r.liveAt(ctx, r.Projects*r.Each, m, p); err != nil {
			return err
		}
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
	for k, m := range []manner{{}, {pairs: true}} {
		many, err := r.liveAt(ctx, r.Each, m, all...)
		if err != nil {
			return err
		}
		r.besideOne(r.Projects, r.Each, m, many, alone[k])
	}
	r.add(fmt.Sprintf("%d with %d/s each: the runner's memory for each, without its instances", r.Projects, r.Each), mib,
		(memory(runner)-before)/float64(r.Projects))
	return nil
}

// queues measures many queues of a project, beside one with as many tickets. Players come in pairs.
func (r *round) queues(ctx context.Context, i *installation) error {
	p, err := r.newProject(ctx, i, "queues")
	if err != nil {
		return err
	}
	m, rate := manner{pairs: true}, max(2, r.Each/2)
	if m.queue, err = p.open(ctx, 0); err != nil {
		return err
	}
	r.report("%d/s in one queue", r.Configs*rate)
	one, err := r.together(ctx, i, r.share(p, m, r.Configs*rate, 0))
	if err != nil {
		return err
	}
	loads := make([]*arrivals, r.Configs)
	for k := range loads {
		if m.queue, err = p.open(ctx, k); err != nil {
			return err
		}
		loads[k] = r.share(p, m, rate, k)
	}
	if err := pause(ctx, r.Settle); err != nil {
		return err
	}
	r.report("%d/s in %d queues", rate, r.Configs)
	many, err := r.together(ctx, i, loads...)
	if err == nil {
		r.besideOne(r.Configs, rate, m, many, one)
	}
	return err
}

// open puts the config of a queue.
func (p *project) open(ctx context.Context, k int) (queue string, err error) {
	config := anybody(false)
	config.Queue = fmt.Sprintf("queue-%d", k)
	return config.Queue, p.put(ctx, config.Queue, config)
}

// Aims for many projects or queues beside one: p50, p99, and the processor time of a ticket.
const (
	manyP50  = 1.5
	manyP99  = 2.0
	manyTime = 1.3
)

// besideOne adds how n projects or queues with a rate each fared, beside one with as many tickets.
func (r *round) besideOne(n, rate int, m manner, many, one life) {
	all, unit := n*rate, "/s"
	if m.pairs {
		rate, all, unit = rate/2, all/2, " pairs/s"
	}
	load, beside := fmt.Sprintf("%d with %d%s each", n, rate, unit), "one with "+count(all)+unit
	r.add(load+": p50", millis, many.p50).than(beside, one.p50).atMost(manyP50)
	r.add(load+": p99", millis, many.p99).than(beside, one.p99).atMost(manyP99)
	r.add(load+": processor time a ticket", micros, many.system).than(beside, one.system).atMost(manyTime)
}

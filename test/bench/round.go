package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// shape is a load, and what is measured of it.
type shape struct {
	name, says string
	// takes is about how long a round takes.
	takes time.Duration
	// measure adds the readings of a round.
	measure func(*round, context.Context) error
	// asked tells that it is measured only when --only names it.
	asked bool
}

// shapes lists all of them.
func shapes() []shape {
	return []shape{
		{"function", "a run of a match function in its sandbox, beside the same code in one process", 20 * time.Second,
			(*round).function, false},
		{"create", "tickets created, beside bare handlers: with the same body, and with the same checks", 24 * time.Second,
			on((*round).create), false},
		{"signatures", "tickets created with tokens that are new, by how they are signed", 40 * time.Second,
			on((*round).signatures), true},
		{"counts", "what a ticket takes: trips to Redis, scripts, messages and context switches", 2 * time.Minute,
			on((*round).counts), true},
		{"steady", "time to the assignment and processor time of a ticket, at steady rates of arrivals", 90 * time.Second,
			on((*round).steady), false},
		{"sustained", "the highest rate of arrivals at which the queue does not grow", 110 * time.Second,
			on((*round).sustained), false},
		{"capacity", "players who come again as soon as they are assigned", 30 * time.Second, on((*round).capacity), true},
		{"crowd", "a crowd stands by that cannot be matched, beside an empty pool", 45 * time.Second,
			on((*round).crowd), false},
		{"configs", "many configs over the same tickets, beside one", 30 * time.Second, on((*round).configs), false},
		{"projects", "many projects, beside one with as many tickets", 80 * time.Second, on((*round).projects), false},
		{"queues", "many queues of a project, beside one with as many tickets", 30 * time.Second, on((*round).queues), false},
		{"burst", "many players come within a second", 40 * time.Second, (*round).burst, false},
		{"streams", "players who follow their tickets, each by a stream", 40 * time.Second, (*round).streams, true},
		{"signs", "a crowd that asks for its tickets now and then, with the sign of life and without", 5 * time.Minute,
			on((*round).signs), true},
		{"rated", "tickets whose players have a rating, beside tickets without", time.Minute, on((*round).rated), true},
		{"estimates", "players are told for how long they wait, beside how long they do", 5 * time.Minute,
			on((*round).estimates), true},
		{"insight", "players while their matches are measured, recorded and explained, beside players of whom nobody asks",
			2 * time.Minute, on((*round).insight), true},
		{"return", "a bad upload runs while players come, and the function goes back", 50 * time.Second,
			on((*round).returned), true},
		{"simulated", "players whose waits are seconds, beside a simulation of them", 11 * time.Minute,
			on((*round).simulated), true},
		{"launch", "ever more players come, then login storms, then servers are missing", 25 * time.Minute, (*round).launch,
			true},
		{"drain", "many wait until a config is put", 30 * time.Second, on((*round).drain), false},
		{"restart", "a runner is restarted while a crowd stands by", 75 * time.Second, on((*round).restart), false},
		{"idle", "projects with a config and nobody who waits", 30 * time.Second, on((*round).idle), false},
	}
}

// round measures a shape once, with one of the binaries.
type round struct {
	*options
	*binary
	// number counts rounds from 0. A round has the same arrivals with each binary.
	number int
	// system is measured; nil when each round starts one.
	system *installation
	// errs gets the progress, logs the services' logs.
	errs, logs io.Writer
	readings   []*reading
	// curves are charts of a launch.
	curves []string
	// late says that the players did not come at their times.
	late string
}

// add adds a reading.
func (r *round) add(name, unit string, value float64) *reading {
	one := &reading{name: name, unit: unit, value: value}
	r.readings = append(r.readings, one)
	return one
}

// seed is the seed of the round's arrivals.
func (r *round) seed() uint64 { return r.Seed + uint64(r.number) }

// with starts a system for a measurement, and ends it afterwards.
func (r *round) with(ctx context.Context, measure func(*installation) error) (err error) {
	if r.system != nil {
		return measure(r.system)
	}
	i, err := install(ctx, r.binary.Matchmaker, r.logs, arguments(r.With))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	return measure(i)
}

// on measures a shape on one system.
func on(measure func(*round, context.Context, *installation) error) func(*round, context.Context) error {
	return func(r *round, ctx context.Context) error {
		return r.with(ctx, func(i *installation) error { return measure(r, ctx, i) })
	}
}

// newProject begins a project with the match function.
func (r *round) newProject(ctx context.Context, i *installation, name string) (*project, error) {
	return i.newProject(ctx, name, r.binary.Function)
}

// ready begins a project whose config lets any two players play.
func (r *round) ready(ctx context.Context, i *installation, name string, hosted bool) (*project, error) {
	p, err := r.newProject(ctx, i, name)
	if err != nil {
		return nil, err
	}
	return p, p.put(ctx, duel, anybody(hosted))
}

// arrive makes the players of the round.
func (r *round) arrive(p *project, m manner, rate int, over time.Duration) *arrivals {
	a := p.arrive(m, rate, over, r.seed())
	a.warm = r.Warm
	return a
}

// report prints what is going on.
func (r *round) report(format string, args ...any) { progress(r.errs, "  "+format, args...) }

// progress prints a line.
func progress(out io.Writer, format string, args ...any) {
	fmt.Fprintf(out, time.Now().Format("15:04:05")+" "+format+"\n", args...)
}

// checkLate notes that the generator was late. Then the machine was too busy.
func (r *round) checkLate(g growth) {
	if g.isLate() {
		r.late = fmt.Sprintf("the generator was late by %s", g.late.Round(time.Millisecond))
	}
}

// grew is the time of players whose queue grows: it depends on how long one looks.
var grew = math.Inf(1)

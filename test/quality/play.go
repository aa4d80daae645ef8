package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/services/internal/observe/statistics"
	"matchmaker.dev/services/lab/chart"
	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/report"
	"matchmaker.dev/services/test/quality/trial"
	"matchmaker.dev/services/test/quality/world"
)

// all does jobs, some at a time, until one fails or the context ends.
func all(ctx context.Context, workers, jobs int, do func(job int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for job := range next {
				if err := do(job); err != nil {
					cancel(err)
				}
			}
		})
	}
	for job := range jobs {
		select {
		case next <- job:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// of returns the engines to play for a game.
func (o *options) of(g *world.Game) []engine.Name {
	all := engine.All(g)
	if len(o.engines) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(name engine.Name) bool { return !slices.Contains(o.engines, name) })
}

// play plays a world with engines.
func play(ctx context.Context, o *options, w world.World, seeds int, output io.Writer) (*report.Results, error) {
	begin := time.Now()
	r := &report.Results{World: w, Engines: o.of(&w.Game), Bounds: make([]trial.Bound, seeds)}
	r.Runs, r.Choices = map[engine.Name][]*trial.Measures{}, map[world.Language][]*trial.Choice{}
	for _, l := range engine.Pairs(&w.Game) {
		both := slices.Contains(r.Engines, engine.On(l)) && slices.Contains(r.Engines, engine.Literal(l))
		if both && !w.Large {
			r.Choices[l] = make([]*trial.Choice, seeds)
		}
	}
	for _, name := range r.Engines {
		r.Runs[name] = make([]*trial.Measures, seeds)
	}
	var mutex sync.Mutex
	done := 0
	err := all(ctx, o.workers, seeds, func(seed int) error {
		tickets := w.Tickets(uint64(seed + 1))
		r.Bounds[seed] = trial.Hindsight(&w, tickets)
		for _, name := range r.Engines {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			m, err := trial.Play(&w, tickets, name, uint64(seed+1))
			if err != nil {
				return fmt.Errorf("world %s, seed %d, engine %s: %w", w.Name, seed+1, name, err)
			}
			mutex.Lock()
			r.Runs[name][seed] = m
			if w.Large {
				_, _ = fmt.Fprintf(output, "%s: %s, seed %d: %d matches after %s\n", w.Name, name, seed+1, m.Matches,
					time.Since(begin).Round(time.Second))
			}
			mutex.Unlock()
		}
		for l, of := range r.Choices {
			choice, err := trial.Beside(&w, tickets, l, uint64(seed+1))
			if err != nil {
				return fmt.Errorf("world %s, seed %d, %s beside the function: %w", w.Name, seed+1, l, err)
			}
			of[seed] = choice
		}
		mutex.Lock()
		defer mutex.Unlock()
		done++
		_, err := fmt.Fprintf(output, "%s: %d of %d seeds after %s\n", w.Name, done, seeds,
			time.Since(begin).Round(time.Second))
		return err
	})
	return r, err
}

// strictness is by how much the bounds of skill are multiplied along a curve.
var strictness = []float64{0.25, 0.5, 1, 2, 4}

// draw draws the curves of a world.
func draw(ctx context.Context, o *options, w world.World, seeds int, output io.Writer) error {
	if seeds == 0 {
		return nil
	}
	var names []engine.Name
	for _, name := range o.of(&w.Game) {
		own := name.Rules() == world.Own
		if own || name == engine.Flexi || name == engine.Literal(name.Rules()) {
			names = append(names, name)
		}
	}
	waits, spreads := make([][]float64, len(names)*len(strictness)), make([][]float64, len(names)*len(strictness))
	var mutex sync.Mutex
	begin := time.Now()
	err := all(ctx, o.workers, seeds*len(strictness), func(job int) error {
		seed, point := job/len(strictness), job%len(strictness)
		scaled := w
		scaled.Game = w.Game.Scaled(strictness[point])
		tickets := w.Tickets(uint64(seed + 1))
		for i, name := range names {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			m, err := trial.Play(&scaled, tickets, name, uint64(seed+1))
			if err != nil {
				return fmt.Errorf("curves of %s, seed %d, engine %s: %w", w.Name, seed+1, name, err)
			}
			if m.Matches == 0 {
				continue
			}
			mutex.Lock()
			at := i*len(strictness) + point
			waits[at], spreads[at] = append(waits[at], m.Waits.At(0.9)), append(spreads[at], m.Spread.Mean())
			mutex.Unlock()
		}
		return nil
	})
	if err != nil {
		return err
	}
	var curves []report.Curve
	for i, name := range names {
		c := report.Curve{Engine: name}
		for point := range strictness {
			at := i*len(strictness) + point
			if len(waits[at]) > 0 {
				c.Points = append(c.Points, chart.Point{X: statistics.Mean(spreads[at]), Y: statistics.Mean(waits[at])})
			}
		}
		curves = append(curves, c)
	}
	_, _ = fmt.Fprintf(output, "%s: curves after %s\n\n", w.Name, time.Since(begin).Round(time.Second))
	return report.Draw(filepath.Join(o.out, w.Name+".svg"), w.Name, curves)
}

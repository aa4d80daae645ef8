package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/match/cycle"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/runner/lasthour"
)

const (
	// simulationParts is how often the requester hears how far a simulation is.
	simulationParts = time.Second
	// maxSimulation bounds how long one may take, and maxSimulationWork for how long of that it may compute.
	maxSimulation     = 10 * time.Minute
	maxSimulationWork = time.Minute
	// maxSimulated is how many instances one may have.
	maxSimulated = 8
	// restBesideRuns is how much longer than it worked a simulation rests while runs are under way.
	restBesideRuns = 4
)

// simulate answers a request that plays configs over the tickets of the last hour. A runner has one at a time, which
// rests as long as it works, and longer while runs are under way.
func (f *function) simulate(ctx context.Context, request *pb.RunRequest, answer bus.SendPart) {
	ctx, cancel := context.WithTimeout(ctx, min(maxSimulation, time.Duration(request.GetBudget())*time.Millisecond))
	defer cancel()
	defer context.AfterFunc(f.life, cancel)()
	f.env.unasked.Store(request.GetRun(), cancel)
	defer f.env.unasked.Delete(request.GetRun())
	began, last := time.Now(), &pb.RunPart{Stats: &pb.RunStats{}}
	var share atomic.Uint64
	var telling sync.WaitGroup
	runs, ended := context.WithCancel(context.WithoutCancel(ctx))
	telling.Go(func() {
		for range wait.Every(runs, simulationParts) {
			// The last part says it if it fails.
			_ = answer(&pb.RunPart{Simulated: &pb.Simulated{Progress: math.Float64frombits(share.Load())}})
		}
	})
	var err error
	last.Simulated, err = f.simulateInTurn(ctx, request, func(n float64) { share.Store(math.Float64bits(n)) },
		last.GetStats())
	switch {
	case err == nil:
	case f.life.Err() != nil:
		last.Error = "the runner does not serve the function any more: try again"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		last.Error = "it took too long"
	default:
		last.Error = err.Error()
	}
	ended()
	telling.Wait()
	f.env.Log.InfoContext(ctx, "a simulation ended", "project", f.project, "seconds", time.Since(began).Seconds(),
		"failed", err != nil)
	f.finish(context.WithoutCancel(ctx), answer, last)
}

// simulateInTurn waits for the turn of a simulation, starts its instances, and plays.
func (f *function) simulateInTurn(ctx context.Context, request *pb.RunRequest, progress func(float64),
	stats *pb.RunStats) (_ *pb.Simulated, err error) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	select {
	case f.env.simulations <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-f.env.simulations }()
	if err := f.feed.wait(ctx, 0); err != nil {
		return nil, err
	}
	var instances []func()
	defer func() {
		for _, end := range instances {
			end()
		}
	}()
	records, err := f.env.Store.Functions(ctx, f.project)
	if err != nil {
		return nil, err
	}
	var sides []lasthour.Side
	for _, of := range request.GetSimulation().GetSides() {
		side := lasthour.Side{Configs: of.GetConfigs(), Functions: map[string]*cycle.Function{}}
		for _, c := range side.Configs {
			if side.Functions[c.GetFunction()] != nil {
				continue
			}
			if len(instances) == maxSimulated {
				return nil, fmt.Errorf("its configs have more than %d functions", maxSimulated)
			}
			spec := records[c.GetFunction()]
			if c.GetUpload() != 0 {
				spec = uploads.As(spec, c.GetUpload())
			}
			one, end, err := f.startSimulated(ctx, spec, giveUp)
			if err != nil {
				return nil, fmt.Errorf("configs.%s: function %s: %w", c.GetId(), c.GetFunction(), err)
			}
			instances = append(instances, end)
			side.Functions[c.GetFunction()] = one
		}
		sides = append(sides, side)
	}
	return f.feed.recorder.Play(ctx, lasthour.Options{Sides: sides, Now: f.env.Store.Now(), Progress: progress,
		Limit: min(maxSimulationWork, time.Duration(request.GetSimulation().GetLimit())*time.Millisecond),
		Rest: func(ctx context.Context, took time.Duration) error {
			stats.Charge += took.Microseconds()
			if under, _ := f.env.gate.Usage(); under > 0 {
				took *= restBesideRuns
			}
			return wait.For(ctx, took)
		}})
}

// errPlaceNeeded ends a simulation.
var errPlaceNeeded = errors.New("the runner needs its instances for runs, try again later")

// startSimulated starts an instance of a function, if one is free. giveUp is called if a run needs its place.
func (f *function) startSimulated(ctx context.Context, spec *pb.Function, giveUp context.CancelCauseFunc) (
	*cycle.Function, func(), error) {
	if spec == nil {
		return nil, nil, errors.New("this function, or this upload of it, is not there")
	}
	place := f.env.instances.newPlace(f.functionKey)
	if !place.tryTake() {
		return nil, nil, errors.New("the runner has no instance free, try again later")
	}
	place.setBusy(true)
	ended := make(chan struct{})
	go func() {
		select {
		case <-place.asked:
			giveUp(errPlaceNeeded)
		case <-ended:
		}
	}()
	release := func() {
		close(ended)
		place.release()
	}
	m, err := f.env.openModule(ctx, f.project, spec.GetModule())
	if err != nil {
		release()
		return nil, nil, err
	}
	instance, err := f.env.Engine.Start(ctx, m, "simulation", func(string) {})
	if err != nil {
		f.env.Engine.Release(m)
		release()
		return nil, nil, err
	}
	return cycle.NewFunction(instance, &m.Manifest), func() {
		instance.Close()
		f.env.Engine.Release(m)
		release()
	}, nil
}

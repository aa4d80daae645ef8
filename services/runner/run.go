package runner

import (
	"context"
	"fmt"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/invocation"
	"matchmaker.dev/services/internal/pool"
)

// run is a run on its way through this runner.
type run struct {
	invocation.Run
	ctx      context.Context // of who asked
	indexed  time.Time       // when the index was where the run wants it
	answered chan struct{}   // closed by the seat that took the run, after the last part
}

// accept takes a run from the bus.
func (f *function) accept(ctx context.Context, request *pb.RunRequest, answer bus.SendPart) {
	if !f.gate.enter() {
		f.finish(ctx, answer, &pb.RunPart{Error: "the function is leaving this runner, try again"})
		return
	}
	f.going.Go(func() {
		defer f.gate.leave()
		f.handle(ctx, request, answer)
	})
}

// handle returns when the run is answered.
func (f *function) handle(ctx context.Context, request *pb.RunRequest, answer bus.SendPart) {
	budget := time.Duration(request.GetBudget()) * time.Millisecond
	if budget <= 0 {
		budget = f.env.Settings.Budget
	}
	budget = min(budget, maxBudget)
	now := time.Now()
	r := &run{
		Run: invocation.Run{Request: request, Index: f.feed.index, Backfills: f.feed.backfills, Answer: answer, Began: now, Deadline: now.Add(budget)},
		ctx: ctx, answered: make(chan struct{}),
	}
	patience := budget / 2 // the function is to have the rest
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("waited for %v, half of the run's budget", patience))
	defer cancel()
	defer context.AfterFunc(f.life, cancel)()
	f.env.metrics.waiting.Add(ctx, 1)
	taken, err := f.queue(ctx, r)
	f.env.metrics.waiting.Add(ctx, -1)
	switch {
	case err != nil:
		f.env.metrics.ran(ctx, f.labels, unserved, nil)
		last := &pb.RunPart{Error: err.Error()}
		f.trace(r, unserved, last, err)
		f.finish(r.ctx, answer, last)
	case taken:
		<-r.answered
	default:
		f.env.metrics.ran(ctx, f.labels, idle, nil)
		stats := &pb.RunStats{Waiting: time.Since(r.Began).Microseconds()}
		r.Index.View(func(v pool.View) { stats.Population = v.Count(request.GetCensus()) })
		last := &pb.RunPart{Stats: stats}
		f.trace(r, idle, last, nil)
		f.finish(r.ctx, answer, last)
	}
}

// queue waits until the index is where the run wants it, and a seat took the run. There is
// nothing to take when no ticket waits.
func (f *function) queue(ctx context.Context, r *run) (taken bool, err error) {
	if err := f.feed.await(ctx, r.Request.GetPosition()); err != nil {
		return false, err
	}
	r.indexed = time.Now()
	f.env.metrics.feed.Record(ctx, r.indexed.Sub(r.Began).Seconds())
	if r.Index.Len() == 0 {
		return false, nil
	}
	select {
	case f.runs <- r:
		return true, nil
	default:
	}
	serving := f.current()
	serving.grow()
	f.queued.Add(1)
	defer f.queued.Add(-1)
	select {
	case f.runs <- r:
		return true, nil
	case <-ctx.Done():
		return false, fmt.Errorf("no instance was free: %w%s", context.Cause(ctx), serving.ailment())
	}
}

// finish sends the last part of a run's answer.
func (f *function) finish(ctx context.Context, answer bus.SendPart, last *pb.RunPart) {
	last.Last = true
	if last.GetError() != "" {
		f.env.Log.DebugContext(ctx, "a run failed", "project", f.project, "function", f.function, "error", last.GetError())
	}
	if err := answer(last); err != nil {
		f.env.Log.WarnContext(ctx, "the answer of a run is lost", "project", f.project, "function", f.function, "error", err)
	}
}

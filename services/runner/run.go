package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/match/pool"
)

// run is a run on its way through this runner.
type run struct {
	invocation.Run
	ctx     context.Context // of the request
	indexed time.Time       // when the index reached the position of the run
	life    context.Context // its end kills the instance that has the run
	done    chan struct{}   // closed by the slot that took the run, after the last part of the answer
	canary  int64           // see RunPart.canary
	seen    func() uint64   // see RunPart.position

	// The rest is of trials. compare is what it is compared with. given, failure and tickets are set before done is
	// closed: whether an instance had the run, its failure, and its tickets.
	compare *comparison
	given   bool
	failure error
	tickets []string
}

// errConfigDeleted ends runs.
var errConfigDeleted = errors.New("the config was deleted")

// track gives a run its life, until the returned function is called.
func (f *function) track(r *run) (forget func()) {
	life, end := context.WithCancelCause(f.life)
	r.life = life
	f.mu.Lock()
	defer f.mu.Unlock()
	f.runs[r] = func() { end(errConfigDeleted) }
	return func() {
		end(nil)
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.runs, r)
	}
}

// endRuns ends the runs of a config that are in flight now, after deletedDrain. Later ones go on: a config of the same
// name may come at once.
func (f *function) endRuns(config string) {
	f.runCounts.forget(config)
	f.mu.Lock()
	defer f.mu.Unlock()
	for r, end := range f.runs {
		if r.Request.GetConfig() == config {
			time.AfterFunc(deletedDrain, end)
		}
	}
}

// accept takes a run from the bus, or refuses it. It does not wait: other runs come after this one.
func (f *function) accept(ctx context.Context, request *pb.RunRequest, answer bus.SendPart) {
	remove, err := f.env.backlog.add(f.functionKey, request)
	if err != nil {
		f.env.metrics.recordRun(ctx, f.labels, outcomeUnserved, nil)
		f.finish(ctx, answer, &pb.RunPart{Error: err.Error()})
		return
	}
	f.mu.Lock()
	closed := f.closed
	group := &f.inFlight
	if request.GetSimulation() != nil { // it ends with the function, and delays no end
		group = &f.goroutines
	}
	if !closed {
		group.Go(func() {
			defer remove()
			f.handle(ctx, request, answer)
		})
	}
	f.mu.Unlock()
	if closed {
		remove()
		f.finish(ctx, answer, &pb.RunPart{Error: errLeaving.Error()})
	}
}

// handle returns when the run is answered.
func (f *function) handle(ctx context.Context, request *pb.RunRequest, answer bus.SendPart) {
	if request.GetListing() != nil {
		f.list(ctx, request, answer)
		return
	}
	if request.GetSimulation() != nil {
		f.simulate(ctx, request, answer)
		return
	}
	budget := time.Duration(request.GetBudget()) * time.Millisecond
	if budget <= 0 {
		budget = f.env.Settings.Budget
	}
	budget = min(budget, maxBudget)
	now := time.Now()
	r := &run{
		Run: invocation.Run{
			Request: request, Index: f.feed.index, Backfills: f.feed.backfills, Answer: answer,
			Began: now, Deadline: now.Add(budget),
		},
		ctx: ctx, done: make(chan struct{}),
	}
	defer f.track(r)()
	patience := budget / 2 // the other half is for the function
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("waited for %v, half of the run's budget", patience))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(r.life, func() { end(context.Cause(r.life)) })()
	f.env.metrics.waiting.Add(ctx, 1)
	queued, err := f.enqueue(ctx, r)
	f.env.metrics.waiting.Add(ctx, -1)
	if queued {
		<-r.done
		return
	}
	outcome, last := outcomeUnserved, &pb.RunPart{}
	if err != nil {
		last.Error = err.Error()
	} else {
		outcome, last.Stats = outcomeIdle, &pb.RunStats{Waiting: time.Since(r.Began).Microseconds()}
		r.Index.View(func(v pool.View) { last.Stats.Population = v.In(request.GetQueue()).Count(request.GetCensus()) })
		last.Position = r.seen()
	}
	f.env.metrics.recordRun(ctx, f.labels, outcome, nil)
	f.trace(r, outcome, last, err)
	f.finish(r.ctx, answer, last)
}

// enqueue waits until the index reached the position of the run and a slot took the run. It returns false without an
// error when no ticket waits, unless the function is only checked.
func (f *function) enqueue(ctx context.Context, r *run) (queued bool, err error) {
	if err := f.feed.wait(ctx, r.Request.GetPosition()); err != nil {
		return false, err
	}
	r.indexed, r.seen = time.Now(), f.feed.startLook()
	f.env.metrics.feedWait.Record(ctx, r.indexed.Sub(r.Began).Seconds())
	if r.Index.Len() == 0 && !r.Request.GetCheck() {
		return false, nil
	}
	serving, err := f.servingFor(r)
	if err != nil {
		return false, err
	}
	entry := serving.gate.Enter(r.Request.GetConfig(), r)
	select {
	case <-entry.Taken():
		return true, nil
	default:
	}
	began := time.Now()
	defer func() { f.env.metrics.work.recordWait(ctx, f.labels, time.Since(began)) }()
	select {
	case <-entry.Taken():
		return true, nil
	case <-ctx.Done():
	}
	crowded := serving.gate.HasFreeWorker()
	switch {
	case !entry.Cancel():
		return true, nil
	case crowded:
		return false, fmt.Errorf(bus.Busy+": %w", context.Cause(ctx))
	}
	failing := serving.failureText()
	err = fmt.Errorf("no instance was free: %w%s", context.Cause(ctx), failing)
	if failing != "" && r.isCycle() {
		serving.health.countUnserved(serving.spec(), r.Request.GetConfig(), err)
	}
	return false, err
}

// finish sends the last part of a run's answer.
func (f *function) finish(ctx context.Context, answer bus.SendPart, last *pb.RunPart) {
	last.Last = true
	if last.GetError() != "" {
		f.env.Log.DebugContext(ctx, "a run failed", "project", f.project, "function", f.function)
	}
	if err := answer(last); err != nil {
		f.env.Log.WarnContext(ctx, "the answer of a run is lost",
			"project", f.project, "function", f.function, "error", err)
	}
}

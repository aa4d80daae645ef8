package runner

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// function is a function of a project on this runner. It takes runs from the
// bus, from when a version answers and the index is complete until stop.
type function struct {
	target
	env    *env
	feed   *feed
	labels *labels

	life   context.Context    // its end kills what is under way
	kill   context.CancelFunc // of life
	going  sync.WaitGroup     // every goroutine of the function
	gate   gate               // around runs
	runs   chan *run          // what seats take
	prints *ration            // of all seats
	queued atomic.Int32       // runs that wait for an instance
	able   chan struct{}      // closed when the first version answers

	mu           sync.Mutex
	serving      *version   // nil before any version answered
	next         *version   // the wanted one, as long as it does not answer
	leaving      []*version // those that answered before, of which instances do their last runs
	stopped      bool
	subscription bus.Subscription // nil while runs are not taken
}

func newFunction(ctx context.Context, e *env, t target, feed *feed) *function {
	f := &function{labels: e.metrics.labels(t), target: t, env: e, feed: feed, runs: make(chan *run), prints: newRation(e.Now), able: make(chan struct{})}
	f.life, f.kill = context.WithCancel(ctx)
	f.going.Go(f.subscribe)
	return f
}

// want makes the version that the spec describes the one that answers, as soon
// as it can. Until then, and for good when it cannot, the one before goes on.
func (f *function) want(spec *pb.Function) {
	f.mu.Lock()
	defer f.mu.Unlock()
	latest := f.next
	if latest == nil {
		latest = f.serving
	}
	if latest != nil && latest.is(spec) {
		return
	}
	if f.next != nil {
		f.next.retire()
	}
	f.next = newVersion(f, spec)
	f.next.grow()
}

// up is called by a version whose first instance, or one more, is ready.
func (f *function) up(v *version) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != v {
		return
	}
	v.match(f.serving)
	if f.serving != nil {
		f.serving.retire()
		f.leaving = append(f.leaving, f.serving)
	} else {
		close(f.able)
	}
	f.serving, f.next = v, nil
}

// left is called by a version of which nothing is left.
func (f *function) left(v *version) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leaving = slices.DeleteFunc(f.leaving, func(other *version) bool { return other == v })
}

// subscribe begins to take runs, once they can be answered.
func (f *function) subscribe() {
	select {
	case <-f.able:
	case <-f.life.Done():
		return
	}
	if f.feed.await(f.life, 0) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	subscription, err := f.env.Bus.ServeRuns(f.env.Name, f.project, f.function, f.accept)
	if err != nil {
		f.env.Log.Error("runs of a function cannot be taken", "project", f.project, "function", f.function, "error", err)
		return
	}
	f.subscription = subscription
	f.env.changed()
}

// serves tells whether runs are taken.
func (f *function) serves() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.subscription != nil
}

// stop takes no more runs, lets those under way finish within Settings.Drain,
// and ends all instances.
func (f *function) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, f.env.Settings.Drain)
	defer cancel()
	f.mu.Lock()
	f.stopped = true
	subscription := f.subscription
	f.subscription = nil
	f.mu.Unlock()
	if subscription != nil {
		select {
		case <-subscription.Stop():
		case <-ctx.Done():
		}
	}
	f.gate.close(ctx)
	f.kill()
	f.going.Wait()
	f.env.changed()
}

// current is the version that should answer a run, nil when none does yet.
func (f *function) current() *version {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.serving
}

// crowded tells whether runs wait although there are as many instances as may be, and all of them are well.
func (f *function) crowded() bool {
	serving := f.current()
	return serving != nil && f.queued.Load() > 0 && serving.crowded()
}

// status appends the state of each instance. One that runs while the index is
// still being read answers nobody yet, and so counts as waiting.
func (f *function) status(into []*pb.InstanceStatus) []*pb.InstanceStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range append([]*version{f.serving, f.next}, f.leaving...) {
		if v == nil {
			continue
		}
		for _, s := range v.list() {
			status := s.report()
			if status.State != running && v != f.serving && v != f.next {
				continue // there will be no other instance
			}
			if status.State == running && f.subscription == nil {
				status.State = waiting
			}
			into = append(into, status)
		}
	}
	return into
}

// log puts lines of an instance into the function's log.
func (f *function) log(lines *pb.LogLines) {
	// The context carries nothing here: lines belong to no one run.
	if err := f.env.Bus.PublishLog(f.life, f.project, f.function, lines); err != nil {
		f.env.Log.Warn("lines of a function are lost", "project", f.project, "function", f.function, "error", err)
	}
}

package runner

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/runner/gate"
)

// function is a function of a project on this runner. It takes runs from the bus from when a version is ready and the
// index is complete until stop.
type function struct {
	functionKey
	env    *env
	feed   *feed
	labels *labels

	life       context.Context // its end kills the instances and the runs in flight
	kill       context.CancelFunc
	goroutines sync.WaitGroup
	gate       *gate.Function[*run] // runs wait here for the slots
	logBudget  *rate.Limiter        // bytes that all instances together may log
	projectLog *rate.Limiter        // bytes that all functions of the project may log
	ready      chan struct{}        // closed when the first version is ready
	// least and most are how many instances it has.
	least, most int
	// auxiliaryKey is its role beside another upload, and empty otherwise. used is when it had a run in that role, guarded
	// by the lock of the function that it stands beside.
	auxiliaryKey
	used      time.Time
	home      *function // that a canary is beside of; nil otherwise
	health    *health
	runCounts *runCounts
	spent     *spending
	trying    atomic.Bool // something is tried with runs
	repeating atomic.Bool // a failed run is being repeated
	repeats   repeats

	mu           sync.Mutex
	record       *pb.Function               // the newest that was read
	auxiliaries  map[auxiliaryKey]*function // uploads beside the one that serves
	current      *version                   // it answers runs; nil until the first one is ready
	next         *version                   // replaces current when it is ready; nil when there is none
	retired      []*version                 // earlier ones, whose instances still finish a run
	subscription bus.Subscription           // to runs; nil while none are taken
	stopping     bool                       // subscribe no more
	closed       bool                       // runs are refused
	inFlight     sync.WaitGroup             // runs
	runs         map[*run]func()            // those in flight, and what ends each
}

func newFunction(ctx context.Context, e *env, key functionKey, feed *feed, projectLog *rate.Limiter) *function {
	f := &function{
		functionKey: key, env: e, feed: feed, labels: e.metrics.labels(key),
		logBudget: rate.NewLimiter(logRate, logBurst), projectLog: projectLog, ready: make(chan struct{}),
		runs: map[*run]func(){}, health: newHealth(e.Store.Now), runCounts: newRunCounts(),
		spent: newSpending(),
		least: e.Settings.MinInstances, most: e.Settings.MaxInstances,
	}
	f.gate = e.gate.Function(key.project, key.function, e.Settings.MaxInstances, f.scaleUp)
	f.life, f.kill = context.WithCancel(ctx)
	f.goroutines.Go(f.subscribe)
	return f
}

// update starts the version that the spec describes, unless it is there. Until its first instance is ready, and for
// good when none ever is, the current version goes on.
func (f *function) update(spec *pb.Function) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record = spec
	defer f.updateAuxiliaries()
	if latest := cmp.Or(f.next, f.current); latest != nil && latest.matches(spec) {
		return
	}
	if f.next != nil {
		f.next.retire()
	}
	f.next = newVersion(f, spec)
	f.next.scaleUp()
}

// instanceReady makes a version the current one when its first instance is ready.
func (f *function) instanceReady(v *version) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != v {
		return
	}
	v.takeOver(f.current)
	if f.current != nil {
		f.current.retire()
		f.retired = append(f.retired, f.current)
	} else {
		close(f.ready)
	}
	f.current, f.next = v, nil
	f.updateAuxiliaries()
}

// versionEnded forgets a version whose last slot ended.
func (f *function) versionEnded(v *version) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.retired = slices.DeleteFunc(f.retired, func(other *version) bool { return other == v })
}

// serveAgain is the pause before the next try to take runs.
const serveAgain = time.Second

// subscribe starts to take runs as soon as they can be answered.
func (f *function) subscribe() {
	select {
	case <-f.ready:
	case <-f.life.Done():
		return
	}
	if f.feed.wait(f.life, 0) != nil {
		return
	}
	for {
		err := f.serve()
		if err == nil {
			return
		}
		f.env.Log.Error("taking runs of a function failed, trying again", "project", f.project,
			"function", f.function, "error", err)
		if wait.For(f.life, serveAgain) != nil {
			return
		}
	}
}

// serve takes runs, unless the function stops.
func (f *function) serve() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping {
		return nil
	}
	subscription, err := f.env.Bus.ServeRuns(f.env.Name, f.project, f.function, f.accept)
	if err != nil {
		return err
	}
	f.subscription = subscription
	f.env.statusChanged.Notify()
	return nil
}

// serves reports whether runs are taken.
func (f *function) serves() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.subscription != nil
}

// fails reports whether the first version has no instance, for a reason that is known.
func (f *function) fails() bool {
	f.mu.Lock()
	next := f.next
	f.mu.Unlock()
	return next != nil && next.failureText() != ""
}

// stop takes no more runs, lets those in flight finish within drain, and ends all instances.
func (f *function) stop(ctx context.Context, drain time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, drain)
	defer cancel()
	f.mu.Lock()
	f.stopping = true
	subscription := f.subscription
	f.subscription = nil
	f.mu.Unlock()
	if subscription != nil {
		select {
		case <-subscription.Stop():
		case <-ctx.Done():
		}
	}
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	idle := make(chan struct{})
	f.goroutines.Go(func() {
		f.inFlight.Wait()
		close(idle)
	})
	select {
	case <-idle:
	case <-ctx.Done():
	}
	f.kill()
	f.goroutines.Wait()
	f.env.statusChanged.Notify()
}

// scaleUp adds an instance: a run waits for one.
func (f *function) scaleUp() {
	f.mu.Lock()
	v := f.current
	f.mu.Unlock()
	if v != nil {
		v.scaleUp()
	}
}

// overloaded reports whether runs wait although there are as many instances as allowed, and all of them run.
func (f *function) overloaded() bool {
	f.mu.Lock()
	v := f.current
	serving := slices.DeleteFunc(f.sortedAuxiliaries(), func(b *function) bool { return !b.role.serves() })
	f.mu.Unlock()
	return v != nil && f.gate.Waiting() > 0 && v.atCapacity() || slices.ContainsFunc(serving, (*function).overloaded)
}

// appendStatus appends the state of each instance. An instance that runs while the index is still being read takes no
// runs yet, and so counts as waiting.
func (f *function) appendStatus(list []*pb.InstanceStatus) []*pb.InstanceStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range append([]*version{f.current, f.next}, f.retired...) {
		if v == nil {
			continue
		}
		for _, s := range v.copySlots() {
			status := s.status()
			if status.State != stateRunning && v != f.current && v != f.next {
				continue // a retired version starts no instance
			}
			if status.State == stateRunning && f.subscription == nil && f.role == "" {
				status.State = stateWaiting
			}
			list = append(list, status)
		}
	}
	for _, b := range f.sortedAuxiliaries() {
		list = b.appendStatus(list)
	}
	return list
}

// appendUploads appends the health of each upload.
func (f *function) appendUploads(list []*pb.UploadStatus) []*pb.UploadStatus {
	f.mu.Lock()
	record, auxiliaries := f.record, f.sortedAuxiliaries()
	f.mu.Unlock()
	list = f.health.appendStatus(list, f.functionKey, record)
	for _, b := range auxiliaries {
		if b.role == canaried {
			list = b.health.appendStatus(list, f.functionKey, record)
		}
	}
	return list
}

// measureLog counts what goes into the function's log, and lines that do not.
func (f *function) measureLog(bytes, dropped int) {
	f.env.metrics.logBytes.Add(f.life, int64(bytes), f.labels.function)
	f.env.metrics.logDropped.Add(f.life, int64(dropped), f.labels.function)
}

// sendLog sends lines of an instance to the function's log.
func (f *function) sendLog(lines *pb.LogLines) {
	if err := f.env.Bus.PublishLog(f.life, f.project, f.function, lines); err != nil {
		f.env.Log.Warn("lines of a function's log are lost",
			"project", f.project, "function", f.function, "error", err)
	}
}

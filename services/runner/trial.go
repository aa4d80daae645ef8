package runner

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	pb "matchmaker.dev/proto/matchmaker/v1"
	uploads "matchmaker.dev/services/internal/edge/upload"
	"matchmaker.dev/services/internal/match/invocation"
)

// Limits of a function's trials: runs in the shadow, and repeated failed runs.
const (
	// trialShare is the part of the work of its own runs that its trials of each kind may take besides.
	trialShare = 4
	// trialCredit is how much work trials may take before that, and maxTrialCredit how much they may save.
	trialCredit, maxTrialCredit = 200 * time.Millisecond, time.Second
	// freeRepeats is how many failed runs of an upload are repeated in any case: enough to go back on one runner.
	freeRepeats = 5
	// repeatRate is how many failed runs a second are repeated in the long run, and repeatBurst how many at first.
	repeatRate, repeatBurst = 1, 12
	// repeatWait is how long a repeat waits for an instance.
	repeatWait = 10 * time.Second
	// maxRemembered is the most tickets of a failed run that is repeated.
	maxRemembered = 100_000
)

// spending counts the cost of a function's trials, and their credit. Each role has its own credit. It is safe for
// concurrent use.
type spending struct {
	mu   sync.Mutex
	left map[role]time.Duration
	debt time.Duration // not told to the director yet
}

func newSpending() *spending {
	return &spending{left: map[role]time.Duration{shadow: trialCredit, repeater: trialCredit}}
}

// earn counts the work of a run of the function itself.
func (s *spending) earn(work time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of, left := range s.left {
		s.left[of] = min(maxTrialCredit, left+work/trialShare)
	}
}

// spend counts the work of a trial.
func (s *spending) spend(of role, work time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left[of] -= work
	s.debt += work
}

// allows reports whether one more trial may begin. What it costs is known when it ended.
func (s *spending) allows(of role) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left[of] > 0
}

// pay returns the unreported cost of trials: the director charges it to the project with the work of a run. It is no
// more than the trials of that run may cost: a trial that took long delays no run by much.
func (s *spending) pay(work time.Duration) (debt time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	debt = min(s.debt, 2*work/trialShare)
	s.debt -= debt
	return debt
}

// trial is the trial that goes with a run; nil for none.
type trial struct {
	f       *function
	spec    *pb.Function // what the run runs
	compare *comparison  // with the upload in the shadow; nil without one
}

// try begins the trial of a run of the upload that serves, or of its canary.
func (f *function) try(spec *pb.Function, r *run) *trial {
	if !f.trying.Load() || !r.isCycle() {
		return nil
	}
	t := &trial{f: f, spec: spec}
	r.Watch = new(invocation.Watch)
	if b := f.shadowOf(); b != nil {
		t.compare = f.startShadow(b, spec.GetVersion(), r)
	}
	return t
}

// isCycle reports whether a run is one of a cycle, whose proposals are claimed.
func (r *run) isCycle() bool { return !r.Request.GetCheck() && len(r.Request.GetExplain()) == 0 }

// end is called when the run was answered, before its invoker does another one.
func (t *trial) end(r *run, work time.Duration, err error) {
	if t == nil {
		return
	}
	t.f.spent.earn(work)
	if t.compare != nil {
		t.compare.end(&t.compare.served, r.Watch, err)
	}
	if err != nil && r.Watch.Ran && r.life.Err() == nil {
		t.f.repeat(t.spec, r)
	}
	r.Watch = nil
}

// repeat repeats a failed run on the upload that runs instead if that one does not fail.
func (f *function) repeat(spec *pb.Function, r *run) {
	home := cmp.Or(f.home, f)
	home.mu.Lock()
	target := uploads.RepeatTarget(home.record, spec.GetVersion(), spec.GetGeneration(), f.env.Store.Now())
	home.mu.Unlock()
	if target == nil || !f.repeating.CompareAndSwap(false, true) {
		return
	}
	tickets := r.Watch.Tickets(maxRemembered)
	if tickets == nil || !f.mayRepeat(spec) {
		f.repeating.Store(false)
		return
	}
	request, budget := r.Request, r.Deadline.Sub(r.Began)
	f.goroutines.Go(func() {
		defer f.repeating.Store(false)
		passed, ended := home.repeatOn(auxiliaryKey{repeater, target.GetVersion()}, request, budget, tickets)
		if ended {
			f.health.countRepeat(spec, target.GetVersion(), passed)
			f.env.statusChanged.Notify() // the registry decides
		}
	})
}

// mayRepeat reports whether one more failed run of an upload may be repeated. Only one is at a time.
func (f *function) mayRepeat(spec *pb.Function) bool {
	if f.repeats.generation != spec.GetGeneration() {
		f.repeats.generation, f.repeats.n = spec.GetGeneration(), 0
		f.repeats.limiter = rate.NewLimiter(repeatRate, repeatBurst)
	}
	if f.repeats.n >= freeRepeats && !f.spent.allows(repeater) || !f.repeats.limiter.AllowN(f.env.Now(), 1) {
		return false
	}
	f.repeats.n++
	return true
}

// repeats counts the repeats of a generation. One repeat at a time uses it.
type repeats struct {
	generation int64
	n          int
	limiter    *rate.Limiter
}

// repeatOn repeats a run on another upload. It passed if that one succeeded with all tickets of the failed run, and
// maybe more. It proves nothing if one of them had left, which may be the one that makes runs fail.
func (f *function) repeatOn(
	key auxiliaryKey, request *pb.RunRequest, budget time.Duration, tickets []string,
) (passed, ended bool) {
	b := f.auxiliaryOf(key)
	if b == nil {
		return false, false
	}
	ctx, cancel := context.WithTimeout(b.life, repeatWait)
	defer cancel()
	select {
	case <-b.ready:
	case <-ctx.Done():
		return false, false
	}
	r := b.trialRun(request, budget, func(*pb.RunPart) error { return nil })
	entry := b.gate.Enter(request.GetConfig(), r)
	select {
	case <-entry.Taken():
	case <-ctx.Done():
		if entry.Cancel() {
			return false, false
		}
	}
	<-r.done
	if b.life.Err() != nil || !r.given {
		return false, false
	}
	if r.failure != nil {
		return false, true
	}
	return true, containsAll(r.tickets, tickets)
}

func containsAll(list, wanted []string) bool {
	has := make(map[string]struct{}, len(list))
	for _, one := range list {
		has[one] = struct{}{}
	}
	for _, one := range wanted {
		if _, is := has[one]; !is {
			return false
		}
	}
	return true
}

// trialRun is a run whose proposals are discarded.
func (f *function) trialRun(request *pb.RunRequest, budget time.Duration, answer func(*pb.RunPart) error) *run {
	now := time.Now()
	return &run{
		Run: invocation.Run{
			Request: request, Index: f.feed.index, Backfills: f.feed.backfills, Answer: answer,
			Began: now, Deadline: now.Add(budget), Watch: new(invocation.Watch),
		},
		ctx: f.life, life: f.life, done: make(chan struct{}),
	}
}

// endTrialRun is called when a trial run ended, before its invoker does another one.
func (f *function) endTrialRun(r *run, work time.Duration, err error) {
	f.spent.spend(f.role, work)
	r.given, r.failure = r.Watch.Ran, err
	if r.given && err == nil && f.role == repeater {
		r.tickets = r.Watch.Tickets(2 * maxRemembered)
	}
	if r.compare != nil && f.life.Err() == nil {
		r.compare.end(&r.compare.shadow, r.Watch, err)
	}
	r.Watch = nil
}

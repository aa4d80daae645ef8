package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/runner/gate"
)

// The pauses before an instance that failed is replaced. The first one is doubled with each failure in a row, up to the
// longest; an answered run starts it again. The longest is short, since authors wait for it after they mended a config.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	// permanentPause is for a failure that will repeat, because the module is to blame.
	permanentPause = 30 * time.Second
)

// slot holds one instance, replaces it when it fails, and gives it one run after another.
type slot struct {
	f       *function
	v       *version
	log     instanceLog
	needs   invocation.Needs // of the module
	backoff backoff.ExponentialBackOff
	place   *instancePlace // of the instance among all of the runner
	// session has the tickets that the instance keeps; nil if it gets all tickets in each run.
	session *invocation.Session
	// told has the configs for which the instance's log says what the function does not get.
	told map[string]bool

	mu     sync.Mutex
	name   string // of the instance, or of the last one that failed
	state  string
	reason string // why the last instance failed; empty while one runs
}

func newSlot(v *version) *slot {
	s := &slot{
		f: v.f, v: v, state: stateWaiting, place: v.f.env.instances.newPlace(v.f.functionKey),
		log: instanceLog{upload: v.spec.GetVersion(), now: v.f.env.Now, shown: v.f.env.Store.Now, send: v.f.sendLog,
			budget:  v.f.logBudget,
			project: v.f.projectLog, measure: v.f.measureLog},
		backoff: backoff.ExponentialBackOff{InitialInterval: firstPause, Multiplier: 2, MaxInterval: maxPause},
	}
	s.nameInstance()
	return s
}

// run starts one instance after another, until ctx ends or the version scales down.
func (s *slot) run(ctx context.Context) {
	defer s.log.flush()
	for {
		err := s.runInstance(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			if !s.f.isTrial() {
				s.f.env.metrics.recordEnd(ctx, s.f.labels, err)
			}
			s.logFailure(err)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		state, pause := stateTerminated, permanentPause
		if !permanent(err) {
			state, pause = stateWaiting, s.backoff.NextBackOff()
		}
		s.setState(state, failureText(err))
		s.log.event("another instance will be started in %v", pause)
		s.log.flush()
		if wait.For(ctx, pause) != nil {
			return
		}
		s.nameInstance()
	}
}

// runInstance starts an instance and gives it runs until it fails. The error is nil when it was ended in good order.
func (s *slot) runInstance(ctx context.Context) error {
	began := time.Now()
	s.setState(stateWaiting, s.reason)
	ctx, span := s.f.traceStart(ctx, s.name)
	defer s.place.release()
	instance, err := s.start(ctx)
	traceStarted(span, err)
	if err != nil {
		return err
	}
	defer instance.Close()
	took := time.Since(began)
	s.f.env.metrics.start.Record(ctx, took.Seconds(), s.f.labels.function)
	s.log.event("started: upload %d%s, generation %d, process %d, after %v", s.v.spec.GetVersion(), s.f.role.text(),
		s.v.spec.GetGeneration(), instance.Pid(), took.Round(time.Millisecond))
	s.logReturn()
	s.log.flush()
	s.setState(stateRunning, "")
	s.f.instanceReady(s.v)
	return s.serve(ctx, instance)
}

// start starts an instance, as soon as the runner may have one more.
func (s *slot) start(ctx context.Context) (Instance, error) {
	if err := s.takePlace(ctx); err != nil {
		return nil, err
	}
	m, err := s.v.loadModule(ctx)
	if err != nil {
		return nil, err
	}
	s.needs, s.told, s.session = invocation.NeedsOf(m.Manifest), map[string]bool{}, nil
	if s.needs.PlayerIDs() {
		s.f.feed.needOwners()
	}
	instance, err := s.f.env.Engine.Start(ctx, m, s.name, s.log.line)
	if err == nil && m.Manifest.Changes && !s.f.isTrial() {
		s.session = invocation.NewSession(instance.Memory(), int(s.v.keepMost.Load()),
			s.f.env.Settings.KeepFrom)
	}
	if err != nil {
		s.v.releaseModule() // the next start opens it again, in case its files were damaged
	}
	return instance, err
}

// takePlace waits until the runner may have one more instance. Meanwhile the function is not told to leave room for
// short runs beside the instances that it has.
func (s *slot) takePlace(ctx context.Context) error {
	for s.f.isTrial() { // it takes no place that another instance needs
		if s.place.tryTake() {
			return nil
		}
		if err := wait.For(ctx, placeRetry); err != nil {
			return err
		}
	}
	if s.place.tryTake() {
		return nil
	}
	s.setState(stateWaiting, fmt.Sprintf("the runner has %d instances, as many as --runner-instances allows",
		s.f.env.Settings.RunnerInstances))
	s.f.gate.SetMost(max(1, len(s.v.copySlots())-1))
	defer s.f.gate.SetMost(s.f.most)
	return s.place.take(ctx)
}

// serve takes runs until ctx ends or the instance is not needed.
func (s *slot) serve(ctx context.Context, instance Instance) error {
	idle := time.Tick(s.f.env.Settings.Idle)
	worker := s.f.gate.Worker(s.suits)
	for ctx.Err() == nil { // checked first, so that a slot that ends takes no more runs
		select {
		case <-ctx.Done():
		case <-instance.Done():
			return cmp.Or(s.leave(worker, instance), errors.New("its process ended while it had nothing to do"))
		case <-idle:
			if s.v.scaleDown(s) {
				return s.leave(worker, instance)
			}
		case <-s.place.asked:
			s.log.event("ends, so that another function can start: the runner has as many instances as it may have")
			return s.leave(worker, instance)
		case <-s.log.due:
			s.log.flush()
		case entry := <-worker.Runs():
			if err := s.invoke(entry, worker, instance); err != nil {
				return err
			}
			s.backoff.Reset()
		}
	}
	return s.leave(worker, instance)
}

// leave takes no more runs, and does the last one that the worker was given, if any.
func (s *slot) leave(worker *gate.Worker[*run], instance Instance) error {
	last := worker.Leave()
	if last == nil {
		return nil
	}
	return s.invoke(last, nil, instance)
}

// invoke does a run and answers it. The worker is ready for the next one before the answer is sent, which may bring it
// at once: two in a row do not need two instances. After an error the instance must not be used again.
func (s *slot) invoke(entry *gate.Run[*run], worker *gate.Worker[*run], instance Instance) error {
	r, env := entry.Value, s.f.env
	defer close(r.done)
	free := s.v.markBusy()
	s.place.setBusy(true)
	invoker := env.invokers.take()
	if s.v.overlooks.Load() {
		s.session = nil
	}
	r.Session = s.session
	r.Answer, r.Rest = s.sign(r), wait.Rest
	s.log.config = r.Request.GetConfig()
	trial := s.f.try(s.v.spec, r)
	r.seen = s.f.feed.startLook()
	last, err := invoker.Invoke(r.life, &r.Run, instance, s.needs)
	if s.session != nil {
		env.metrics.kept.Record(s.f.life, int64(s.session.Tickets()), s.f.labels.function)
	}
	last.Seen, last.Position = s.f.runCounts.since(r.Request), r.seen()
	outcome := outcomeOf(err)
	s.record(r, outcome, last.GetStats(), err)
	charge := time.Duration(last.GetStats().GetCharge()) * time.Microsecond
	if (s.f.role == "" || s.f.role == canaried) && r.isCycle() {
		last.GetStats().Charge += s.f.spent.pay(charge).Microseconds()
	}
	free()
	s.place.setBusy(false)
	if outcome == outcomeKilled {
		worker = nil
		s.keepLess(err, last.GetStats())
	}
	if err == nil && s.session.Due(&r.Run) {
		s.answer(r, outcome, last, nil)
		trial.end(r, charge, nil)
		err = s.check(invoker, r, instance)
		if err != nil {
			worker = nil
		}
		entry.Done(charge, worker)
	} else {
		entry.Done(charge, worker)
		s.answer(r, outcome, last, err)
		trial.end(r, charge, err)
	}
	if s.f.isTrial() {
		s.f.endTrialRun(r, charge, err)
	}
	s.tellLeftOut(r)
	env.invokers.put(invoker)
	if failed, ok := errors.AsType[invocation.FunctionError](err); ok {
		s.log.functionError(failed)
		err = nil
	}
	return err
}

// record records a run for the metrics and the health of the upload.
func (s *slot) record(r *run, outcome string, stats *pb.RunStats, err error) {
	metrics := s.f.env.metrics
	if s.f.isTrial() {
		metrics.work.record(s.f.life, s.f.labels, stats)
	} else {
		metrics.recordRun(s.f.life, s.f.labels, outcome, stats)
	}
	if s.f.role != repeater && r.isCycle() && r.life.Err() == nil {
		s.f.health.count(s.v.spec, r.Request.GetConfig(), stats, err)
	}
	if !s.f.isTrial() && r.isCycle() && err == nil {
		s.f.runCounts.note(r.Request)
	}
}

// answer sends the last part of the answer to a run.
func (s *slot) answer(r *run, outcome string, last *pb.RunPart, err error) {
	s.f.finish(r.ctx, r.Answer, last)
	if !s.f.isTrial() {
		s.f.trace(r, outcome, last, err)
	}
}

// logReturn logs once for each instance that the function went back to this upload by itself.
func (s *slot) logReturn() {
	back := s.f.returned()
	if s.f.role != "" || back == nil || back.GetTo() != s.v.spec.GetVersion() {
		return
	}
	s.log.event("upload %d runs again: %d of %d runs of upload %d failed, and %d of the %d that were repeated on this "+
		"one did not: %s", back.GetTo(), back.GetFailed(), back.GetRuns(), back.GetFrom(), back.GetPassed(),
		back.GetRepeated(), back.GetError())
}

// sign writes into each part of an answer which upload of the function runs, and for which part of its canary.
func (s *slot) sign(r *run) func(*pb.RunPart) error {
	upload, answer := s.v.spec.GetVersion(), r.Answer
	// mistake mislabel: upload = 1
	return func(p *pb.RunPart) error {
		p.Upload, p.Canary = upload, r.canary
		return answer(p)
	}
}

// suits reports whether the instance keeps the tickets of a run.
func (s *slot) suits(r *run) bool {
	if s.session == nil || s.session.Empty() {
		return false
	}
	if r.Key == "" {
		r.Key = invocation.Key(r.Request)
	}
	return s.session.Has(r.Key)
}

// keepLess lets the function keep fewer tickets when a run failed for want of memory.
func (s *slot) keepLess(err error, stats *pb.RunStats) {
	if e, ok := errors.AsType[*sandbox.Error](err); !ok || e.Cause != sandbox.Memory || s.session == nil {
		return
	}
	most := max(1, stats.GetTickets()/2)
	s.v.keepMost.Store(most)
	s.log.event("it keeps no more than %d tickets from now on: with more, each run gets all of them", most)
}

// check gives the function the tickets that it left over once more, after the answer was sent. When it finds matches
// among them, no instance of this upload keeps tickets any more.
func (s *slot) check(invoker *invocation.Invoker, r *run, instance Instance) error {
	err := invoker.Check(r.life, &r.Run, instance, s.needs)
	failed, wrong := errors.AsType[invocation.CheckError](err)
	s.f.env.metrics.recordCheck(s.f.life, s.f.labels, err)
	if !wrong {
		return err
	}
	s.v.overlooks.Store(true)
	s.log.event("config %q: the function overlooks matches when it works on changes: %v. From now on it gets all tickets "+
		"in each run", r.Request.GetConfig(), failed)
	return nil
}

// maxTold limits the configs for which an instance logs what its function does not get.
const maxTold = 64

// tellLeftOut counts the attributes and properties that the function did not get, and logs them once for each config.
func (s *slot) tellLeftOut(r *run) {
	if !r.LeftOut.Any() {
		return
	}
	s.f.env.metrics.leftOut.Add(s.f.life, int64(r.LeftOut.Attributes+r.LeftOut.Properties), s.f.labels.function)
	config := r.Request.GetConfig()
	if s.told[config] || len(s.told) >= maxTold {
		return
	}
	s.told[config] = true
	s.log.event("config %q: %s", config, &r.LeftOut)
}

// logFailure logs why the instance ended.
func (s *slot) logFailure(err error) {
	s.log.reportDropped()
	s.log.event("%s", failureText(err))
	if e, ok := errors.AsType[*sandbox.Error](err); ok && e.Stack != "" {
		s.log.event("%s", e.Stack)
	}
	s.log.flush()
}

// permanent reports whether an error will repeat because the module is to blame: it was refused, or is no match
// function.
func permanent(err error) bool {
	if problem.KindOf(err) == problem.Invalid {
		return true
	}
	e, ok := errors.AsType[*sandbox.Error](err)
	return ok && e.Cause == sandbox.Invalid
}

// failureText is an error as the function's author reads it.
func failureText(err error) string {
	if p, ok := errors.AsType[*problem.Error](err); ok && p.Kind == problem.Invalid {
		return p.Detail
	}
	return err.Error()
}

func (s *slot) setState(state, reason string) {
	s.mu.Lock()
	s.state, s.reason = state, reason
	s.mu.Unlock()
	s.f.env.statusChanged.Notify()
}

// status is the state of the instance for the heartbeat.
func (s *slot) status() *pb.InstanceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &pb.InstanceStatus{
		Project: s.f.project, Function: s.f.function, Generation: s.v.spec.GetGeneration(),
		Name: s.name, State: s.state, Reason: strings.ToValidUTF8(s.reason[:min(len(s.reason), maxReason)], ""),
		Upload: s.v.spec.GetVersion(), Aside: s.f.role != "", Canary: s.f.role == canaried,
	}
}

// maxName is the longest name of an instance in bytes, as of a DNS or Kubernetes label.
const maxName = 63

// nameInstance names the next instance: function, generation, runner and time of the start. So names sort by time on
// each runner.
func (s *slot) nameInstance() {
	runner := s.f.env.Name
	runner = strings.TrimLeft(runner[max(0, len(runner)-20):], "-._") // names of processes differ at the end
	end := fmt.Sprintf("-%d-%s-%s", s.v.spec.GetGeneration(), runner, s.f.env.timestamp())
	function := s.f.function[:min(len(s.f.function), maxName-len(end))]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = function + end
	s.log.instance = s.name
}

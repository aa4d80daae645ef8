package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/invocation"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/sandbox"
)

// seat holds an instance, replaces it when it fails, and lets it do one run after another.
type seat struct {
	f       *function
	v       *version
	journal journal
	invoker invocation.Invoker
	needs   invocation.Needs // of the instance's module
	backoff backoff

	mu     sync.Mutex
	name   string // of the instance, or of the last one that failed
	state  string
	reason string // why the last one failed; empty when one runs
}

func newSeat(v *version) *seat {
	s := &seat{f: v.f, v: v, state: waiting, journal: journal{now: v.f.env.Now, say: v.f.log, allow: v.f.prints.take}}
	s.rename()
	return s
}

// keep has an instance, and another after it, until ctx ends or the seat is spared.
func (s *seat) keep(ctx context.Context) {
	defer s.journal.flush()
	for {
		err := s.live(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			s.f.env.metrics.ended(ctx, s.f.labels, err)
			s.lament(err)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		pause := s.backoff.next(blames(err))
		s.fail(err, pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
			s.rename()
		}
	}
}

// live starts an instance and lets it work until it fails, which is the error;
// nil when it was ended in good order.
func (s *seat) live(ctx context.Context) error {
	began := time.Now()
	s.set(waiting)
	ctx, span := s.f.traceStart(ctx, s.name)
	instance, err := s.start(ctx)
	s.f.env.metrics.started(ctx, s.f.labels, time.Since(began), err)
	traceStarted(span, err)
	if err != nil {
		return err
	}
	defer instance.Close()
	s.journal.event("started: generation %d, process %d, after %v", s.v.spec.GetGeneration(), instance.Pid(), time.Since(began).Round(time.Millisecond))
	s.journal.flush()
	s.set(running)
	s.f.up(s.v)
	return s.serve(ctx, instance)
}

func (s *seat) start(ctx context.Context) (*sandbox.Instance, error) {
	m, err := s.v.load(ctx)
	if err != nil {
		return nil, err
	}
	s.needs = invocation.NeedsOf(m.Manifest)
	instance, err := s.f.env.Box.Start(ctx, m, s.name, s.journal.line)
	if err != nil {
		s.v.unload() // the next one is started from what is really there
	}
	return instance, err
}

// serve takes runs.
func (s *seat) serve(ctx context.Context, instance *sandbox.Instance) error {
	idle := time.NewTicker(s.f.env.Settings.Idle)
	defer idle.Stop()
	for ctx.Err() == nil { // looked at first: who is to go takes no run that another one could have
		select {
		case <-ctx.Done():
		case <-instance.Done():
			return errors.New("its process ended while it had nothing to do")
		case <-idle.C:
			if s.v.spare(s) {
				return nil
			}
		case <-s.journal.due:
			s.journal.flush()
		case r := <-s.f.runs:
			if err := s.do(r, instance); err != nil {
				return err
			}
			s.backoff.reset()
		}
	}
	return nil
}

// do does a run. The error is why the instance must not be used again.
func (s *seat) do(r *run, instance *sandbox.Instance) error {
	defer close(r.answered)
	free := s.v.occupy()
	last, err := s.invoker.Invoke(s.f.life, &r.Run, instance, s.needs)
	s.f.env.metrics.ran(s.f.life, s.f.labels, outcomeOf(err), last.GetStats())
	free() // before the answer, which may bring the next run at once: two in a row are no load for two
	s.f.finish(r.ctx, r.Answer, last)
	s.f.trace(r, outcomeOf(err), last, err)
	if c, ok := errors.AsType[invocation.FunctionError](err); ok {
		s.journal.complaint(c)
		err = nil
	}
	return err
}

// lament tells the log why the instance is no more.
func (s *seat) lament(err error) {
	s.journal.complain()
	s.journal.event("%s", reason(err))
	if e, ok := errors.AsType[*sandbox.Error](err); ok && e.Stack != "" {
		s.journal.event("%s", e.Stack)
	}
	s.journal.flush()
}

// fail is the state between an instance that failed and the next one.
func (s *seat) fail(err error, pause time.Duration) {
	s.mu.Lock()
	s.state, s.reason = waiting, reason(err)
	if blames(err) {
		s.state = terminated
	}
	s.mu.Unlock()
	s.journal.event("another instance will be started in %v", pause)
	s.journal.flush()
	s.f.env.changed()
}

// blames tells whether an error is the module's own and will come again: it was refused before
// there was an instance, whatever it did then, or it is no match function.
func blames(err error) bool {
	if problem.KindOf(err) == problem.Invalid {
		return true
	}
	e, ok := errors.AsType[*sandbox.Error](err)
	return ok && e.Cause == sandbox.Invalid
}

// reason is an error as the function's author reads it. What is refused has a detail that says all of it.
func reason(err error) string {
	if f, ok := errors.AsType[*problem.Error](err); ok && f.Kind == problem.Invalid {
		return f.Detail
	}
	return err.Error()
}

func (s *seat) set(state string) {
	s.mu.Lock()
	s.state = state
	if state == running {
		s.reason = ""
	}
	s.mu.Unlock()
	s.f.env.changed()
}

// report is the state of the instance for the heartbeat.
func (s *seat) report() *pb.InstanceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &pb.InstanceStatus{
		Project: s.f.project, Function: s.f.function, Generation: s.v.spec.GetGeneration(),
		Name: s.name, State: s.state, Reason: strings.ToValidUTF8(s.reason[:min(len(s.reason), maxReason)], ""),
	}
}

// maxName is how long names of instances may be, in bytes: what a label of DNS or Kubernetes holds.
const maxName = 63

// rename names the next instance: function, generation, runner and when it was. So who sorts logs by the
// names of instances reads what happened on a runner in its order.
func (s *seat) rename() {
	home := s.f.env.Name
	home = strings.TrimLeft(home[max(0, len(home)-20):], "-._") // names of processes differ at the end
	end := fmt.Sprintf("-%d-%s-%s", s.v.spec.GetGeneration(), home, s.f.env.stamp())
	function := s.f.function[:min(len(s.f.function), maxName-len(end))]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name = function + end
	s.journal.instance = s.name
}

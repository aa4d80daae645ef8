package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/schedule"
	"matchmaker.dev/services/internal/match/evaluator"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/sandbox"
)

// mostRun is how long a run may really take. What it takes in virtual time is the scenario's.
const mostRun = time.Minute

// function is an instance of a function.
type function struct {
	invoker  invocation.Invoker
	needs    invocation.Needs
	instance *sandbox.Instance
	release  func()
	// session is what the instance keeps of its tickets; nil if it gets all tickets in each run.
	session *invocation.Session
	// overlooks says what a function overlooked that kept its tickets; empty if it did not.
	overlooks string
}

func startFunction(ctx context.Context, box *sandbox.Supervisor, module []byte) (*function, error) {
	m, _, err := box.Load(ctx, "", module)
	if err != nil {
		return nil, err
	}
	if err := m.Manifest.Check(); err != nil {
		box.Release(m)
		return nil, err
	}
	f := &function{needs: invocation.NeedsOf(m.Manifest)}
	if f.instance, err = box.Start(ctx, m, "simulation", func(string) {}); err != nil {
		box.Release(m)
		return nil, err
	}
	if m.Manifest.Changes {
		f.session = invocation.NewSession(f.instance.Memory(), 0, 0)
	}
	f.release = func() { box.Release(m) }
	return f, nil
}

func (f *function) close() {
	f.instance.Close()
	f.release()
}

// checkRuns is after how many runs of a segment a function is checked that works on changes. A runner does so more
// often, by the time that it takes.
const checkRuns = 1000

// check gives a function the tickets that it left over once more, now and then. One that overlooks matches gets all
// tickets from then on, as in a runner.
func (f *function) check(ctx context.Context, s *segment, r *invocation.Run) error {
	if f.session == nil || !f.session.Has(r.Key) {
		s.unchecked = 0
		return nil
	}
	if s.unchecked++; s.unchecked < checkRuns {
		return nil
	}
	s.unchecked = 0
	err := f.invoker.Check(ctx, r, f.instance, f.needs)
	if wrong, is := errors.AsType[invocation.CheckError](err); is {
		f.session, f.overlooks, err = nil, wrong.Error(), nil
	}
	return err
}

// config is a config with the segments of its pools.
type config struct {
	*pb.Config
	function *function
	segments []*segment
	// segmented is for how many tickets the pools are divided, and latest how many there were when a run counted last.
	segmented, latest segmentation.Population
	counted           time.Time
}

// segment is one config over one segment of its pools.
type segment struct {
	schedule.Segment
	config *config
	pools  map[string]*pb.Pool
	// keys are the keys of its runs, without and with running games.
	keys      map[bool]string
	unchecked int // runs since the last check
}

// key is the key of a run.
func (s *segment) key(r *pb.RunRequest) string {
	games := r.GetBackfills()
	if s.keys[games] == "" {
		s.keys[games] = invocation.Key(r)
	}
	return s.keys[games]
}

// divide makes the segments for as many tickets as were counted last.
func (c *config) divide(timing schedule.Segment) error {
	divided, err := segmentation.Expand(c.GetPools(), c.latest)
	if err != nil {
		return err
	}
	c.segmented, c.segments = c.latest, c.segments[:0:0]
	for _, pools := range divided {
		s := &segment{Segment: timing, config: c, pools: pools, keys: map[bool]string{}}
		s.See(schedule.PoolsOf(c.GetQueue(), pools))
		c.segments = append(c.segments, s)
	}
	return nil
}

// outgrown reports whether the segments no longer fit the tickets.
func (c *config) outgrown() bool {
	return c.latest != nil && !segmentation.Fits(c.GetPools(), c.segmented, c.latest)
}

// times are the times of the schedule.
func (w *world) times() schedule.Times {
	s := w.Service
	return schedule.Times{MinInterval: s.MinInterval, MaxInterval: s.MaxInterval, Window: s.Window, Run: mostRun}
}

// state is what the schedule is made for.
func (w *world) state() schedule.State[*segment] {
	return schedule.State[*segment]{
		Times: w.times(), Pending: w.pending.since, Took: w.pending.took, Budget: w.budget,
		Wake:   w.now.Add(w.Service.MaxInterval),
		Paused: w.index.Len() == 0,
		Segments: func(yield func(*segment) bool) {
			for _, c := range w.configs {
				for _, s := range c.segments {
					if !yield(s) {
						return
					}
				}
			}
		},
	}
}

// start starts the runs that are due.
func (w *world) start() error {
	for _, c := range w.configs {
		idle := !slices.ContainsFunc(c.segments, func(s *segment) bool { return !s.Idle() })
		if c.outgrown() && idle {
			if err := c.divide(c.segments[0].Next()); err != nil {
				return fmt.Errorf("configs.%s: %w", c.GetId(), err)
			}
		}
	}
	starts, wake := w.state().Next(w.now)
	w.wake = wake
	for i, s := range starts {
		if err := w.startRun(s, w.seedOf(i)); err != nil {
			return fmt.Errorf("configs.%s: function %s: %w", s.config.GetId(), s.config.GetFunction(), err)
		}
	}
	return nil
}

// startRun runs a function on what waits now. Its answer comes later.
func (w *world) startRun(s *segment, seed uint64) error {
	c := s.config
	s.Start(w.now)
	s.Take("simulation", w.times())
	request := &pb.RunRequest{
		Config: c.GetId(), Function: c.GetFunction(), Settings: c.GetSettings(), Pools: s.pools, Queue: c.GetQueue(),
		Now: w.now.UnixMilli(), Seed: seed, Backfills: w.backfills.Len() > 0,
	}
	if crowds := segmentation.Crowds(c.GetPools()); crowds != nil && w.now.Sub(c.counted) >= w.Service.MaxInterval {
		request.Census, c.counted = crowds, w.now
	}
	var candidates []*candidate
	take := func(part *pb.RunPart) error {
		// The invoker uses its messages again, but for those that are unpacked here.
		extended := make([]*pb.Proposal, len(part.GetProposals()))
		for i, p := range part.GetProposals() {
			extended[i] = proto.CloneOf(p)
		}
		part.Proposals = extended
		if err := proposals.Unpack(part); err != nil {
			return err
		}
		for _, p := range part.GetProposals() {
			candidates = append(candidates, &candidate{
				Proposal: p, Tickets: proposals.TicketsOf(p), Config: c.GetId(),
				First: p.GetFilling().GetBackfill() != "", Origin: s,
			})
		}
		return nil
	}
	really := time.Now()
	run := &invocation.Run{
		Request: request, Index: w.index, Backfills: w.backfills, Answer: take, Began: really, Deadline: really.Add(mostRun),
		Now: w.now, Budget: w.Service.Budget, Session: c.function.session,
	}
	if run.Session != nil {
		run.Key = s.key(request)
		if run.Session.Has(run.Key) {
			w.result.Kept++
		}
	}
	last, err := c.function.invoker.Invoke(w.ctx, run, c.function.instance, c.function.needs)
	if err == nil {
		err = take(last)
	}
	if err != nil {
		return err
	}
	counts := last.GetStats().GetPopulation()
	if err := c.function.check(w.ctx, s, run); err != nil {
		return err
	}
	c.function.invoker.Release()
	w.result.Runs++
	w.result.Proposed += len(candidates)
	w.agenda.plan(w.now.Add(w.Service.Run), func() {
		if counts != nil {
			c.latest = counts
			for _, of := range c.segments {
				of.Hold(c.outgrown())
			}
		}
		w.pending.add(w.now, s, candidates)
		s.End(schedule.OK, w.Service.Cost, w.now)
	})
	// What is planned may be earlier than the schedule knows.
	w.wake = earlier(w.wake, w.now.Add(w.Service.Run))
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// candidate is a proposal and where it came from.
type candidate = evaluator.Candidate[*segment]

// pending are proposals that wait for an evaluation: since when, and how long the run took that made the first.
type pending struct {
	since time.Time
	took  time.Duration
	list  []*candidate
}

func (p *pending) add(now time.Time, from *segment, candidates []*candidate) {
	if len(candidates) == 0 {
		return
	}
	if len(p.list) == 0 {
		p.since, p.took = now, now.Sub(from.Started())
	}
	p.list = append(p.list, candidates...)
	from.Propose(len(candidates))
}

// claimBest claims the best of some proposals, and returns the ones that lost to one which was refused: their tickets
// may still wait. Tickets of a segment that rests are not tried again.
func (w *world) claimBest(able []*candidate) (again []*candidate) {
	refused := map[*segment]bool{}
	selected := evaluator.Select(able)
	for _, c := range selected {
		if !w.claim(c) {
			refused[c.Origin] = true
		}
	}
	if len(refused) == 0 || len(selected) == len(able) {
		return nil
	}
	return slices.DeleteFunc(able, func(c *candidate) bool {
		return refused[c.Origin] || !w.claimable(c)
	})
}

// evaluate selects among the pending proposals, if it is time, and claims the tickets of the selected ones.
func (w *world) evaluate() {
	if s := w.state(); s.Pending.IsZero() || w.now.Before(s.EvaluateAt()) {
		return
	}
	all := w.pending.list
	w.pending = pending{}
	// A proposal whose ticket left in the meantime would be refused, and the others evaluated again.
	able := slices.DeleteFunc(slices.Clone(all), func(c *candidate) bool { return !w.claimable(c) })
	if len(able) < len(all) {
		w.touch()
	}
	for len(able) > 0 {
		able = w.claimBest(able)
	}
	for _, c := range all {
		c.Origin.Settle(1)
	}
}

// Package cycle plays the cycles of a project in virtual time: the index of the runners, functions in their sandboxes,
// the schedule and the evaluator of the director. The caller brings tickets and says what a claim does. Redis and NATS
// are left out, and nothing gets lost. The same configs, tickets and seed give the same matches again, on any machine.
package cycle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/evaluator"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/sandbox"
)

// Service is how the service is set up, and how fast it is.
type Service struct {
	// MinInterval, MaxInterval, Window and Cores are the settings of the director of these names. WaitLimit is for how
	// long a ticket may wait.
	MinInterval, MaxInterval, Window, WaitLimit time.Duration
	Cores                                       float64
	// Run is how long it takes from the start of a run until its proposals are evaluated, and Cost the processor time
	// that it is charged. Budget is what the function is told that it has.
	Run, Cost, Budget time.Duration
}

// Defaults are the settings' defaults, and what a machine with two cores takes for small pools.
func Defaults() Service {
	return Service{
		MinInterval: 10 * time.Millisecond, MaxInterval: time.Second, Window: 20 * time.Millisecond, WaitLimit: time.Hour,
		Cores: 1, Run: 4 * time.Millisecond, Cost: time.Millisecond, Budget: 5 * time.Second,
	}
}

// Claims are what proposals meet.
type Claims interface {
	// Claimable reports whether the tickets of a proposal can be claimed.
	Claimable(c *Candidate) bool
	// Claim claims the tickets of a proposal. If there is no server for it, it is refused, and its segment rests.
	Claim(c *Candidate) bool
}

// Candidate is a proposal and where it came from.
type Candidate = evaluator.Candidate[*Segment]

// Options say what is played.
type Options struct {
	Service Service
	Seed    uint64
	Began   time.Time
	Configs []*pb.Config
	// Functions are instances by the names of functions.
	Functions map[string]*Function
	Claims    Claims
	// Report says what is measured of each proposal; nil for nothing.
	Report *pb.Report
	// Longest is how long a run may really take. What it takes in virtual time is the service's.
	Longest time.Duration
	// Most is how many proposals may wait for their evaluation; 0 for any number.
	Most int
}

// Counts is what was done.
type Counts struct {
	// Runs is how often functions ran, and Proposed how many matches they proposed.
	Runs, Proposed int
	// Kept is how many of the runs got only what had changed, since their function keeps its tickets.
	Kept int
	// Charged is what runs really took: the time of this process, and the processor time of the instances.
	Charged time.Duration
}

// Function is an instance of a function.
type Function struct {
	invoker  invocation.Invoker
	needs    invocation.Needs
	instance invocation.Instance
	// session is what the instance keeps of its tickets; nil if it gets all tickets in each run.
	session *invocation.Session
	// Overlooks says what a function overlooked that kept its tickets; empty if it did not.
	Overlooks string
}

// NewFunction returns an instance that was started of a module.
func NewFunction(instance invocation.Instance, m *sandbox.Manifest) *Function {
	f := &Function{needs: invocation.NeedsOf(*m), instance: instance}
	if m.Changes {
		f.session = invocation.NewSession(instance.Memory(), 0, 0)
	}
	return f
}

// checkRuns is after how many runs of a segment a function is checked that works on changes. A runner does so more
// often, by the time that it takes.
const checkRuns = 1000

// check gives a function the tickets that it left over once more, now and then. One that overlooks matches gets all
// tickets from then on, as in a runner.
func (f *Function) check(ctx context.Context, s *Segment, r *invocation.Run) error {
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
		f.session, f.Overlooks, err = nil, wrong.Error(), nil
	}
	return err
}

// Config is a config with the segments of its pools.
type Config struct {
	*pb.Config
	function *Function
	segments []*Segment
	division *segmentation.Division
}

// Segment is one config over one segment of its pools.
type Segment struct {
	schedule.Segment
	Config *Config
	pools  map[string]*pb.Pool
	// keys are the keys of its runs, without and with running games.
	keys      map[bool]string
	unchecked int // runs since the last check
}

// key is the key of a run.
func (s *Segment) key(r *pb.RunRequest) string {
	games := r.GetBackfills()
	if s.keys[games] == "" {
		s.keys[games] = invocation.Key(r)
	}
	return s.keys[games]
}

// divide makes the segments for as many tickets as were counted last.
func (c *Config) divide(timing schedule.Segment) error {
	divided, err := c.division.Expand(c.GetPools())
	if err != nil {
		return err
	}
	c.segments = c.segments[:0:0]
	for _, pools := range divided {
		s := &Segment{Segment: timing, Config: c, pools: pools, keys: map[bool]string{}}
		s.See(schedule.PoolsOf(c.GetQueue(), pools))
		c.segments = append(c.segments, s)
	}
	return nil
}

// Cycles are a project's cycles under way.
type Cycles struct {
	// Now is the virtual time.
	Now    time.Time
	Agenda Agenda
	// Index has the tickets that wait, and Backfills the running games that functions see.
	Index     *pool.Index
	Backfills *pool.Backfills
	Counts    Counts

	options Options
	configs []*Config
	budget  *schedule.Budget
	pending pending
	// planned is how many proposals the answers have that are under way.
	planned int
	// crossing is how many tickets waited in several queues, as the last run saw them.
	crossing int64
	wake     time.Time // when the schedule is to be looked at
}

// New begins the cycles. The error names the config whose pools cannot be divided.
func New(o Options) (*Cycles, error) {
	w := &Cycles{Now: o.Began, Index: pool.New(), Backfills: pool.NewBackfills(), options: o,
		budget: schedule.NewBudget(o.Service.Cores)}
	w.Index.KeepOwners()
	for _, c := range o.Configs {
		one := &Config{Config: c, function: o.Functions[c.GetFunction()], division: segmentation.Divide(c.GetPools())}
		if err := one.divide(w.budget.Account(c.GetId()).First()); err != nil {
			return nil, fmt.Errorf("configs.%s: %w", c.GetId(), err)
		}
		w.configs = append(w.configs, one)
	}
	return w, nil
}

// Next is when there is something to do. comes is when the next ticket comes, zero if none does.
func (w *Cycles) Next(comes time.Time) time.Time {
	at := w.wake
	planned, _ := w.Agenda.next()
	for _, other := range []time.Time{comes, planned} {
		if !other.IsZero() && (at.IsZero() || other.Before(at)) {
			at = other
		}
	}
	if at.Before(w.Now) {
		return w.Now
	}
	return at
}

// Step does what a director's leader does at a time: after the tickets that come, and what is planned, it evaluates
// what can be evaluated, and starts the runs that are due.
func (w *Cycles) Step(ctx context.Context, at time.Time, come func()) error {
	w.Now = at
	come()
	w.Agenda.until(at)
	w.evaluate()
	return w.start(ctx)
}

// Segments are the segments of all configs.
func (w *Cycles) Segments(yield func(*Segment) bool) {
	for _, c := range w.configs {
		for _, s := range c.segments {
			if !yield(s) {
				return
			}
		}
	}
}

// Touch notes that the next runs may see something else in these queues; without any, in all.
func (w *Cycles) Touch(queues ...string) {
	for s := range w.Segments {
		if len(queues) == 0 || slices.Contains(queues, s.Config.GetQueue()) {
			s.Touch()
		}
	}
}

// Apart reports whether no player is in two tickets of a proposal. playersOf is called only for proposals that are to
// be compared (Proposal.compare).
func Apart(c *Candidate, playersOf func(ticket string) []string) bool {
	seen := map[string]bool{}
	for i := 0; i < len(c.Tickets) && c.GetCompare(); i++ {
		for _, id := range playersOf(c.Tickets[i]) {
			if seen[id] {
				return false
			}
			seen[id] = true
		}
	}
	return true
}

// AppendMark appends what tells the state at a time from others, but for the tickets. It reports false while something
// is under way.
func (w *Cycles) AppendMark(to []byte, now time.Time) (_ []byte, settled bool) {
	if len(w.pending.list) > 0 {
		return nil, false
	}
	for s := range w.Segments {
		if !s.Idle() {
			return nil, false
		}
		to = s.AppendMark(to, now)
	}
	for _, f := range w.options.Functions {
		if f.session != nil && f.session.Tickets() > 0 {
			return nil, false
		}
	}
	return w.budget.AppendMark(to), true
}

// Overlooked says which functions overlooked matches while they kept their tickets.
func (w *Cycles) Overlooked() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(w.options.Functions)) {
		if overlooks := w.options.Functions[name].Overlooks; overlooks != "" {
			all = append(all, "function "+name+": "+overlooks)
		}
	}
	return all
}

// times are the times of the schedule.
func (w *Cycles) times() schedule.Times {
	s := &w.options.Service
	return schedule.Times{MinInterval: s.MinInterval, MaxInterval: s.MaxInterval, Window: s.Window,
		Run: w.options.Longest}
}

// state is what the schedule is made for.
func (w *Cycles) state() schedule.State[*Segment] {
	s := schedule.State[*Segment]{
		Times: w.times(), Pending: w.pending.since, Took: w.pending.took, Budget: w.budget,
		Wake:     w.Now.Add(w.options.Service.MaxInterval),
		Paused:   w.Index.Len() == 0,
		Segments: iter.Seq[*Segment](w.Segments),
	}
	if w.crossing == 0 {
		s.Rivals = func(one *Segment) bool { return w.pending.queues[one.Config.GetQueue()] }
	}
	return s
}

// seedOf is the seed of one of the runs that start now: it does not depend on what happened before.
func (w *Cycles) seedOf(number int) uint64 {
	const most = 1 << 16 // runs in a millisecond
	return rand.NewPCG(w.options.Seed, uint64(w.Now.UnixMilli())*most+uint64(number)).Uint64()
}

// start starts the runs that are due.
func (w *Cycles) start(ctx context.Context) error {
	for _, c := range w.configs {
		busy := func(s *Segment) bool { return !s.Idle() }
		if c.division != nil && c.division.Outgrown && !slices.ContainsFunc(c.segments, busy) {
			if err := c.divide(c.segments[0].Next()); err != nil {
				return fmt.Errorf("configs.%s: %w", c.GetId(), err)
			}
		}
	}
	starts, wake := w.state().Next(w.Now)
	w.wake = wake
	for i, s := range starts {
		if err := w.startRun(ctx, s, w.seedOf(i)); err != nil {
			return fmt.Errorf("configs.%s: function %s: %w", s.Config.GetId(), s.Config.GetFunction(), err)
		}
	}
	return nil
}

// startRun runs a function on what waits now. Its answer comes later.
func (w *Cycles) startRun(ctx context.Context, s *Segment, seed uint64) error {
	c, service := s.Config, &w.options.Service
	s.Start(w.Now)
	s.Take("simulation", w.times())
	request := &pb.RunRequest{
		Config: c.GetId(), Function: c.GetFunction(), Settings: c.GetSettings(), Pools: s.pools, Queue: c.GetQueue(),
		Now: w.Now.UnixMilli(), Seed: seed, Backfills: w.Backfills.Len() > 0, Report: w.options.Report,
		Uncounted: true, Census: c.division.Count(w.Now, service.MaxInterval),
	}
	var candidates []*Candidate
	take := func(part *pb.RunPart) error {
		waiting := len(w.pending.list) + w.planned + len(candidates) + len(part.GetProposals())
		if most := w.options.Most; most > 0 && waiting > most {
			return fmt.Errorf("more than %d proposals", most)
		}
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
			candidates = append(candidates, &Candidate{
				Proposal: p, Tickets: proposals.TicketsOf(p), Config: c.GetId(),
				First: p.GetFilling().GetBackfill() != "", Origin: s,
			})
		}
		return nil
	}
	really := time.Now()
	run := &invocation.Run{
		Request: request, Index: w.Index, Backfills: w.Backfills, Answer: take, Began: really,
		Deadline: really.Add(w.options.Longest), Now: w.Now, Budget: service.Budget, Session: c.function.session,
	}
	if run.Session != nil {
		run.Key = s.key(request)
		if run.Session.Has(run.Key) {
			w.Counts.Kept++
		}
	}
	last, err := c.function.invoker.Invoke(ctx, run, c.function.instance, c.function.needs)
	w.Counts.Charged += time.Duration(last.GetStats().GetCharge()) * time.Microsecond
	if err == nil {
		err = take(last)
	}
	if err != nil {
		return err
	}
	counts, crossing := last.GetStats().GetPopulation(), last.GetStats().GetCrossing()
	if err := c.function.check(ctx, s, run); err != nil {
		return err
	}
	c.function.invoker.Release()
	w.Counts.Runs++
	w.Counts.Proposed += len(candidates)
	w.planned += len(candidates)
	w.Agenda.Plan(w.Now.Add(service.Run), func() {
		if counts != nil {
			c.division.Update(counts)
			for _, of := range c.segments {
				of.Hold(c.division.Outgrown)
			}
		}
		w.planned -= len(candidates)
		w.crossing = crossing
		w.pending.add(w.Now, s, candidates)
		s.End(schedule.OK, service.Cost, w.Now)
	})
	// What is planned may be earlier than the schedule knows.
	if answered := w.Now.Add(service.Run); answered.Before(w.wake) {
		w.wake = answered
	}
	return nil
}

// pending are proposals that wait for an evaluation: since when, how long the run took that made the first, and the
// queues of their configs.
type pending struct {
	since  time.Time
	took   time.Duration
	list   []*Candidate
	queues map[string]bool
}

func (p *pending) add(now time.Time, from *Segment, candidates []*Candidate) {
	if len(candidates) == 0 {
		return
	}
	if len(p.list) == 0 {
		p.since, p.took, p.queues = now, now.Sub(from.Started()), map[string]bool{}
	}
	p.queues[from.Config.GetQueue()] = true
	p.list = append(p.list, candidates...)
	from.Propose(len(candidates))
}

// claimBest claims the best of some proposals, and returns the ones that lost to one which was refused: their tickets
// may still wait. Tickets of a segment that rests are not tried again.
func (w *Cycles) claimBest(able []*Candidate) (again []*Candidate) {
	refused := map[*Segment]bool{}
	selected := evaluator.Select(able)
	if w.crossing > 0 && len(selected) < len(able) { // matches of other queues took tickets
		for _, c := range able {
			c.Origin.Touch()
		}
	}
	for _, c := range selected {
		if !w.options.Claims.Claim(c) {
			refused[c.Origin] = true
		}
	}
	if len(refused) == 0 || len(selected) == len(able) {
		return nil
	}
	return slices.DeleteFunc(able, func(c *Candidate) bool {
		return refused[c.Origin] || !w.options.Claims.Claimable(c)
	})
}

// evaluate selects among the pending proposals, if it is time, and claims the tickets of the selected ones.
func (w *Cycles) evaluate() {
	if s := w.state(); s.Pending.IsZero() || w.Now.Before(s.EvaluateAt()) {
		return
	}
	all := w.pending.list
	w.pending = pending{}
	// A proposal whose ticket left in the meantime would be refused, and the others evaluated again.
	able := slices.DeleteFunc(slices.Clone(all), func(c *Candidate) bool { return !w.options.Claims.Claimable(c) })
	if len(able) < len(all) {
		w.Touch()
	}
	for len(able) > 0 {
		able = w.claimBest(able)
	}
	for _, c := range all {
		c.Origin.Settle(1)
	}
}

// Package dryrun runs a match function on tickets without a service. It uses the runners' own sandbox and code, and
// selects among the proposals as the director does.
package dryrun

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/evaluator"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/sandbox"
)

// Options say what to run.
type Options struct {
	Box      *sandbox.Supervisor
	Function []byte // the module
	Config   *pb.Config
	Tickets  []*pb.Ticket
	// Backfills are the backfill tickets, which the same pools select from.
	Backfills []*pb.Backfill
	// Now and Seed are passed to the function.
	Now  time.Time
	Seed uint64
	// Budget is how long a run may take.
	Budget time.Duration
	// Cycles is how many cycles to measure, at least 1. A cycle has one run for each segment of the pools.
	Cycles int
	// Explain are the ids of tickets of which the function is asked why they are in no match, in a cycle of its own.
	// Without them it is asked of the oldest ticket if it proposes nothing.
	Explain []string
	// Log gets each line that the function prints in the first cycle.
	Log func(line string)
}

// Result is the result of the first cycle, and the times of all cycles.
type Result struct {
	// Matches are the selected proposals, the best score first. Proposed is the number of all proposals.
	Matches  []*pb.Proposal
	Proposed int
	// Waiting are the tickets without a match, in the order of Options.Tickets. Outside is how many of them are in no
	// pool.
	Waiting []*pb.Ticket
	Outside int
	// InPools are the ids of all tickets that are in a pool.
	InPools map[string]bool
	// Explanations are what the function says of the tickets of Options.Explain.
	Explanations []*pb.Explanation
	// Segments is the number of runs in a cycle.
	Segments int
	Cycles   []Times
	// Memory is how much memory the function used, in bytes.
	Memory int
	Module *sandbox.Module
}

// Run runs a function. A bad module is a *problem.Error of kind Invalid, an instance that died a *sandbox.Error. Any
// other error is the function's.
func Run(ctx context.Context, o Options) (*Result, error) {
	d := &dryRun{Options: o, index: pool.New(), backfills: pool.NewBackfills()}
	d.index.KeepOwners()
	if err := d.fillIndex(); err != nil {
		return nil, err
	}
	if err := d.expandPools(); err != nil {
		return nil, err
	}
	m, _, err := o.Box.Load(ctx, "", o.Function)
	if err != nil {
		return nil, err
	}
	defer o.Box.Release(m)
	if err := m.Manifest.Check(); err != nil {
		return nil, problem.Wrap(problem.Invalid, err, "%s", err)
	}
	instance, err := o.Box.Start(ctx, m, "trial", d.logLine)
	if err != nil {
		return nil, err
	}
	defer instance.Close()
	d.needs, d.instance = invocation.NeedsOf(m.Manifest), &memoryMeter{Instance: instance}
	r := &Result{Module: m, Segments: len(d.segments)}
	for d.cycle = range max(1, o.Cycles) {
		times, err := d.runCycle(ctx)
		if err != nil {
			return nil, err
		}
		r.Cycles = append(r.Cycles, times)
		if d.cycle == 0 {
			d.selectMatches(r)
		}
	}
	if len(d.Explain) == 0 && r.Proposed == 0 {
		d.Explain = d.oldest(r)
	}
	if len(d.Explain) > 0 {
		d.cycle++
		d.asking = true
		if _, err := d.runCycle(ctx); err != nil && len(o.Explain) > 0 {
			return nil, err
		}
		r.Explanations = d.explanations
	}
	r.Memory = d.instance.memory
	return r, nil
}

type dryRun struct {
	Options
	segments  []map[string]*pb.Pool
	index     *pool.Index
	backfills *pool.Backfills
	invoker   invocation.Invoker
	needs     invocation.Needs
	instance  *memoryMeter

	cycle      int
	candidates []*evaluator.Candidate[struct{}] // of the first cycle

	asking       bool // in the cycle in which the function is asked about tickets
	explanations []*pb.Explanation
}

// memoryMeter notes how much memory an instance used at most.
type memoryMeter struct {
	*sandbox.Instance
	memory int
}

func (m *memoryMeter) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	answer, stats, err := m.Instance.Run(ctx, request, budget)
	m.memory = max(m.memory, stats.Memory)
	return answer, stats, err
}

func (d *dryRun) logLine(text string) {
	if d.cycle == 0 {
		d.Log(text)
	}
}

// fillIndex puts the tickets into the index.
func (d *dryRun) fillIndex() error {
	for _, ticket := range d.Tickets {
		if err := d.index.PutTicket(ticket.GetId(), ticket); err != nil {
			return fmt.Errorf("ticket %s: %w", ticket.GetId(), err)
		}
	}
	for _, b := range d.Backfills {
		if err := d.backfills.Put(b); err != nil {
			return fmt.Errorf("backfill ticket %s: %w", b.GetId(), err)
		}
	}
	return nil
}

// expandPools divides the pools into segments. The number of some segments depends on the number of tickets.
func (d *dryRun) expandPools() (err error) {
	pools := d.Config.GetPools()
	var population segmentation.Population
	d.index.View(func(v pool.View) { population = v.In(d.Config.GetQueue()).Count(segmentation.Crowds(pools)) })
	d.segments, err = segmentation.Expand(pools, population)
	return err
}

// runCycle runs the function once for each segment.
func (d *dryRun) runCycle(ctx context.Context) (Times, error) {
	var sum Times
	for _, pools := range d.segments {
		now := time.Now()
		run := &invocation.Run{
			Request: &pb.RunRequest{
				Function: d.Config.GetFunction(), Settings: d.Config.GetSettings(), Pools: pools,
				Now: d.Now.UnixMilli(), Seed: d.Seed, Backfills: len(d.Backfills) > 0,
				Queue: d.Config.GetQueue(),
			},
			Index: d.index, Backfills: d.backfills, Answer: d.addProposals,
			Began: now, Deadline: now.Add(d.Budget),
		}
		if d.asking {
			run.Request.Explain = d.Explain
		}
		last, err := d.invoker.Invoke(ctx, run, d.instance, d.needs)
		if run.LeftOut.Any() {
			d.logLine("[runner] " + run.LeftOut.String())
		}
		if err != nil {
			return sum, err
		}
		if err := d.addProposals(last); err != nil {
			return sum, err
		}
		d.explanations = append(d.explanations, last.GetExplanations()...)
		s := last.GetStats()
		sum.Query += microseconds(s.GetQuery())
		sum.Encode += microseconds(s.GetEncode())
		sum.Run += microseconds(s.GetRun())
		sum.Compute += microseconds(s.GetCompute())
		sum.Decode += microseconds(s.GetDecode())
	}
	return sum, nil
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// addProposals copies the proposals of the first cycle: the invoker uses the part again.
func (d *dryRun) addProposals(part *pb.RunPart) error {
	if d.cycle > 0 {
		return nil
	}
	if err := proposals.Unpack(part); err != nil {
		return err
	}
	for _, p := range part.GetProposals() {
		d.candidates = append(d.candidates, &evaluator.Candidate[struct{}]{
			Proposal: proto.CloneOf(p), Tickets: proposals.TicketsOf(p), Config: d.Config.GetId(),
			First: p.GetFilling().GetBackfill() != "", // as in a director without --no-backfill-first
		})
	}
	return nil
}

// selectMatches selects among the proposals, and lists the tickets that are left over.
func (d *dryRun) selectMatches(r *Result) {
	r.Proposed = len(d.candidates)
	matched := map[string]bool{}
	for _, c := range evaluator.Select(d.candidates) {
		r.Matches = append(r.Matches, c.Proposal)
		for _, id := range c.Tickets {
			matched[id] = true
		}
	}
	pooled := d.ticketsInPools()
	r.InPools = pooled
	for _, ticket := range d.Tickets {
		if !matched[ticket.GetId()] {
			r.Waiting = append(r.Waiting, ticket)
			if !pooled[ticket.GetId()] {
				r.Outside++
			}
		}
	}
}

// oldest returns the id of the oldest ticket in a pool, if there is one.
func (d *dryRun) oldest(r *Result) []string {
	var oldest *pb.Ticket
	for _, t := range r.Waiting {
		if r.InPools[t.GetId()] && (oldest == nil || t.GetCreated() < oldest.GetCreated()) {
			oldest = t
		}
	}
	if oldest == nil {
		return nil
	}
	return []string{oldest.GetId()}
}

func (d *dryRun) ticketsInPools() map[string]bool {
	ids := make(map[string]bool, len(d.Tickets))
	var s pool.Selection
	for _, pools := range d.segments {
		d.index.View(func(v pool.View) { v.In(d.Config.GetQueue()).Select(pools, &s) })
		for i := range s.N() {
			ids[s.ID(i)] = true
		}
	}
	return ids
}

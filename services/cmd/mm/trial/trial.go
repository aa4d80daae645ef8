// Package trial tries a match function on tickets, without a service: in the runners'
// sandbox and by the runners' own code, with the director's choice among the proposals.
package trial

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/evaluator"
	"matchmaker.dev/services/internal/invocation"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/proposals"
	"matchmaker.dev/services/internal/sandbox"
)

// Options are what to try.
type Options struct {
	Box      *sandbox.Box
	Function []byte // the module
	Config   *pb.Config
	Tickets  []*pb.Ticket
	// Backfills are the backfill tickets that the function sees through the same pools.
	Backfills []*pb.Backfill
	// Now and Seed are what the function is told.
	Now  time.Time
	Seed uint64
	// Budget is how long a run may take.
	Budget time.Duration
	// Cycles is how often everything is done, for the times. Each has one run for each segment of the pools.
	Cycles int
	// Log gets what the function prints in the first cycle, line by line.
	Log func(line string)
}

// Result is what came of it.
type Result struct {
	// Matches won, the best score first, of so many that were Proposed.
	Matches  []*pb.Proposal
	Proposed int
	// Waiting are the tickets that no match has, in the order they were given; Outside how
	// many of them no pool has.
	Waiting []*pb.Ticket
	Outside int
	// Segments is how many runs each cycle has.
	Segments int
	// Cycles are the times of each.
	Cycles []Times
	// Memory is what the function took, in bytes.
	Memory int
	Module *sandbox.Module
}

// Try tries a function. What is wrong with the module is a *fault.Error of the kind
// Invalid; an instance that died a *sandbox.Error; any other error is the run's.
func Try(ctx context.Context, o Options) (*Result, error) {
	t := &trial{Options: o, index: pool.New(), backfills: pool.NewBackfills()}
	if err := t.fill(); err != nil {
		return nil, err
	}
	if err := t.divide(); err != nil {
		return nil, err
	}
	m, err := o.Box.Load(ctx, o.Function)
	if err != nil {
		return nil, err
	}
	defer o.Box.Release(m)
	instance, err := o.Box.Start(ctx, m, "trial", t.line)
	if err != nil {
		return nil, err
	}
	defer instance.Close()
	t.needs, t.instance = invocation.NeedsOf(m.Manifest), &gauge{Instance: instance}
	r := &Result{Module: m, Segments: len(t.segments)}
	for t.cycle = range max(1, o.Cycles) {
		times, err := t.work(ctx)
		if err != nil {
			return nil, err
		}
		r.Cycles = append(r.Cycles, times)
		if t.cycle == 0 {
			t.settle(r)
		}
	}
	r.Memory = t.instance.memory
	return r, nil
}

type trial struct {
	Options
	segments  []map[string]*pb.Pool
	index     *pool.Index
	backfills *pool.Backfills
	invoker   invocation.Invoker
	needs     invocation.Needs
	instance  *gauge

	cycle      int
	candidates []*evaluator.Candidate[struct{}] // of the first cycle
}

// gauge reads how much memory an instance has taken.
type gauge struct {
	*sandbox.Instance
	memory int
}

// Run is the instance's.
func (g *gauge) Run(ctx context.Context, request []byte, budget time.Duration) ([]byte, sandbox.Stats, error) {
	answer, stats, err := g.Instance.Run(ctx, request, budget)
	g.memory = max(g.memory, stats.Memory)
	return answer, stats, err
}

func (t *trial) line(text string) {
	if t.cycle == 0 {
		t.Log(text)
	}
}

// fill brings the tickets into the index, by the form in which they come to a runner.
func (t *trial) fill() error {
	for _, ticket := range t.Tickets {
		body, err := proto.Marshal(ticket)
		if err != nil {
			return fmt.Errorf("ticket %s: %w", ticket.GetId(), err)
		}
		if err := t.index.Put(ticket.GetId(), body); err != nil {
			return fmt.Errorf("ticket %s: %w", ticket.GetId(), err)
		}
	}
	for _, b := range t.Backfills {
		if err := t.backfills.Put(b); err != nil {
			return fmt.Errorf("backfill ticket %s: %w", b.GetId(), err)
		}
	}
	return nil
}

// divide cuts the pools into segments, those that depend on it for the tickets there are.
func (t *trial) divide() (err error) {
	pools := t.Config.GetPools()
	var population pool.Population
	t.index.View(func(v pool.View) { population = v.Count(pool.Crowds(pools)) })
	t.segments, err = pool.Expand(pools, population)
	return err
}

// work does one cycle: a run for each segment.
func (t *trial) work(ctx context.Context) (Times, error) {
	var sum Times
	for _, pools := range t.segments {
		now := time.Now()
		last, err := t.invoker.Invoke(ctx, &invocation.Run{
			Request: &pb.RunRequest{
				Function: t.Config.GetFunction(), Settings: t.Config.GetSettings(), Pools: pools,
				Now: t.Now.UnixMilli(), Seed: t.Seed, Backfills: len(t.Backfills) > 0,
			},
			Index: t.index, Backfills: t.backfills, Answer: t.take,
			Began: now, Deadline: now.Add(t.Budget),
		}, t.instance, t.needs)
		if err != nil {
			return sum, err
		}
		if err := t.take(last); err != nil {
			return sum, err
		}
		s := last.GetStats()
		sum.Query += micros(s.GetQuery())
		sum.Encode += micros(s.GetEncode())
		sum.Run += micros(s.GetRun())
		sum.Compute += micros(s.GetCompute())
		sum.Decode += micros(s.GetDecode())
	}
	return sum, nil
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// take keeps the first cycle's proposals; the part they come in is used again.
func (t *trial) take(part *pb.RunPart) error {
	if t.cycle > 0 {
		return nil
	}
	if err := proposals.Unpack(part); err != nil {
		return err
	}
	for _, p := range part.GetProposals() {
		t.candidates = append(t.candidates, &evaluator.Candidate[struct{}]{
			Proposal: proto.CloneOf(p), Tickets: TicketsOf(p), Config: t.Config.GetId(),
			First: p.GetFilling().GetBackfill() != "", // as directors do, unless --no-backfill-first tells them not to
		})
	}
	return nil
}

// settle decides which proposals become matches, and who is left over.
func (t *trial) settle(r *Result) {
	r.Proposed = len(t.candidates)
	matched := map[string]bool{}
	for _, c := range evaluator.Select(t.candidates) {
		r.Matches = append(r.Matches, c.Proposal)
		for _, id := range c.Tickets {
			matched[id] = true
		}
	}
	inside := t.inside()
	for _, ticket := range t.Tickets {
		if !matched[ticket.GetId()] {
			r.Waiting = append(r.Waiting, ticket)
			if !inside[ticket.GetId()] {
				r.Outside++
			}
		}
	}
}

// inside is the tickets that some pool has.
func (t *trial) inside() map[string]bool {
	in := make(map[string]bool, len(t.Tickets))
	var s pool.Selection
	for _, pools := range t.segments {
		t.index.View(func(v pool.View) { v.Select(pools, &s) })
		for i := range s.N() {
			in[s.ID(i)] = true
		}
	}
	return in
}

// TicketsOf is the tickets of all teams.
func TicketsOf(p *pb.Proposal) []string {
	var ids []string
	for _, team := range p.GetTeams() {
		ids = slices.Concat(ids, team.GetTickets())
	}
	return ids
}

package backfill

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/evaluator"
	"matchmaker.dev/services/internal/notify"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/wait"
)

// candidate is a match that a function proposes.
type candidate = evaluator.Candidate[struct{}]

// retryPause is when to ask again for a run that no runner took.
const retryPause = 100 * time.Millisecond

// maxProposals is how many proposals a run may make: a server wants some players.
const maxProposals = 100_000

// search runs a function once over each segment of the pools, side by side, and returns the matches that it proposes,
// the best first. What a function cannot answer, or not in time, is as if it had found nobody: the log says why.
func (s *service) search(ctx context.Context, project string, in v1Request) ([]*candidate, error) {
	segments, err := pool.Expand(in.pools, nil)
	if err != nil {
		return nil, err
	}
	position, err := s.Store.Position(ctx, project)
	if err != nil {
		return nil, err
	}
	// The runner ends the run in time; a second more is for the way there and back.
	limited, cancel := context.WithTimeout(ctx, s.Settings.RequestTime+time.Second)
	defer cancel()
	answers := make(chan runResult, len(segments))
	for _, pools := range segments {
		go func() { answers <- s.run(limited, project, position, in, pools) }()
	}
	var entries []*candidate
	var cost time.Duration
	defer func() { s.charge(ctx, project, cost) }()
	for range segments {
		a := <-answers
		cost += a.cost
		s.metrics.recordRun(ctx, project, a.failure)
		if a.failure != "" && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "a run for a backfill request failed", "project", project, "function", in.function, "reason",
				a.failure)
		}
		for _, p := range a.proposals {
			// An error is for those who wait, not for a server, and one of the first generation has no backfill ticket.
			if p.GetError() == "" && p.GetFilling() == nil {
				entries = append(entries, &candidate{Proposal: p, Tickets: state.TicketsOf(p)})
			}
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // the server does not wait for the answer any more: nobody must be sent to it
	}
	return evaluator.Select(entries), nil
}

// runResult is the result of a run.
type runResult struct {
	proposals []*pb.Proposal
	failure   string
	cost      time.Duration
}

// run runs the function over pools, as soon as a runner has it.
func (s *service) run(ctx context.Context, project string, position uint64, in v1Request,
	pools map[string]*pb.Pool) runResult {
	for {
		a := s.ask(ctx, &pb.RunRequest{
			Run: uuid.NewString(), Project: project, Function: in.function,
			Settings: in.settings, Pools: pools, Position: position, Queue: in.queue,
			Now: s.Store.Now().UnixMilli(), Seed: rand.Uint64(), //nolint:gosec // a seed of matches, not a secret
			Budget: s.Settings.RequestTime.Milliseconds(),
		})
		if a.failure != bus.NoRunner {
			return a
		}
		if wait.For(ctx, retryPause) != nil {
			return a
		}
	}
}

// ask runs the function once.
func (s *service) ask(ctx context.Context, r *pb.RunRequest) (a runResult) {
	ctx, span := s.startRunSpan(ctx, r)
	defer func() { endRunSpan(span, a) }()
	in := &parts{added: notify.New()}
	var stats *pb.RunStats
	run, err := s.Bus.StartRun(ctx, r, in.add)
	if err != nil {
		return runResult{failure: err.Error()}
	}
	defer run.Stop()
	var taken time.Time // when a runner took the run
	defer func() {
		lost := time.Duration(0)
		if stats == nil && !taken.IsZero() {
			lost = time.Since(taken)
		}
		a.cost = costOf(stats, lost)
	}()
	for {
		select {
		case <-in.added.C():
			for _, p := range in.take() {
				if p.GetRunner() != "" {
					taken = time.Now()
				}
				stats = p.GetStats()
				if a.proposals = append(a.proposals, p.GetProposals()...); len(a.proposals) > maxProposals {
					return runResult{failure: bus.Dropped}
				}
				if p.GetLast() {
					a.failure = p.GetError()
					return a
				}
			}
		case <-ctx.Done():
			return runResult{failure: "the runner did not answer in time"}
		}
	}
}

// parts collects the parts of an answer. Adding one never blocks.
type parts struct {
	added notify.Signal

	mu   sync.Mutex
	list []*pb.RunPart
}

func (p *parts) add(part bus.Part) {
	p.mu.Lock()
	p.list = append(p.list, part.RunPart)
	p.mu.Unlock()
	p.added.Notify()
}

func (p *parts) take() []*pb.RunPart {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.list
	p.list = nil
	return list
}

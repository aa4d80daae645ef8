package backfill

import (
	"context"
	"math/rand/v2"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/evaluator"
	"matchmaker.dev/services/internal/match/segmentation"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// candidate is a match that a function proposes.
type candidate = evaluator.Candidate[struct{}]

// maxProposals is how many proposals a run may make: a server wants some players.
const maxProposals = 100_000

// search runs a function once over each segment of the pools, in parallel, and returns the matches that it proposes,
// the best first. A function that fails, or is late, counts as one without matches: the log says why.
func (s *service) search(ctx context.Context, project string, in v1Request) ([]*candidate, error) {
	segments, err := segmentation.Expand(in.pools, nil)
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
	answers := make(chan adhoc.Answer, len(segments))
	for _, pools := range segments {
		go func() { answers <- s.run(limited, project, position, in, pools) }()
	}
	var entries []*candidate
	var cost time.Duration
	defer func() {
		s.metrics.cost.Add(ctx, cost.Seconds(), telemetry.WithLabels(s.metrics.projects.Of(project)))
		s.budget().Charge(ctx, project, cost)
	}()
	for range segments {
		a := <-answers
		cost += a.Cost
		s.metrics.recordRun(ctx, project, a.Failure)
		if a.Failure != "" && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "a run for a backfill request failed", "project", project, "function", in.function, "reason",
				a.Failure)
		}
		for _, p := range a.Proposals {
			// An error is for waiting tickets, not for a server, and a request of the first version has no backfill ticket.
			if p.GetError() == "" && p.GetFilling() == nil {
				entries = append(entries, &candidate{Proposal: p, Tickets: state.TicketsOf(p)})
			}
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // the server does not wait for the answer any more: it must get no players
	}
	return evaluator.Select(entries), nil
}

// run runs the function over pools, as soon as a runner has it.
func (s *service) run(ctx context.Context, project string, position uint64, in v1Request,
	pools map[string]*pb.Pool) adhoc.Answer {
	return s.adhoc.Run(ctx, &pb.RunRequest{
		Project: project, Function: in.function, Upload: in.upload, Settings: in.settings, Pools: pools, Position: position,
		Queue: in.queue,
		Now:   s.Store.Now().UnixMilli(), Seed: rand.Uint64(), //nolint:gosec // a seed of matches, not a secret
		Budget: s.Settings.RequestTime.Milliseconds(),
	})
}

// searchBucket is the name of the budget of searches in the state, which all replicas share.
const searchBucket = "backfillwork"

// maxCharge is the most that a search is charged.
const maxCharge = time.Minute

func (s *service) budget() adhoc.Budget {
	return adhoc.Budget{Name: searchBucket, Budget: s.Settings.searches(), Most: maxCharge, Store: s.Store, Log: s.Log}
}

// checkBudget is a Limited error when the project's searches took more processor time than they may.
func (s *service) checkBudget(ctx context.Context, project string) error {
	budget := s.budget()
	e := problem.New(problem.ProjectLimited, "the runs for such requests of this project took more processor time than "+
		"they may (%v seconds a second): try again later", s.Settings.Cores)
	e.Limit = &problem.Limit{Name: searchBucket, Amount: max(1, int(budget.Amount/time.Second)), Window: budget.Window}
	return budget.Allow(ctx, project, e)
}

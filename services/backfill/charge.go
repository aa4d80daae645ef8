package backfill

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/bus/adhoc"
	"matchmaker.dev/services/internal/edge/problem"
)

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

// charge charges the project for the runs of a search.
func (s *service) charge(ctx context.Context, project string, cost time.Duration) {
	s.metrics.recordCost(ctx, project, cost)
	s.budget().Charge(ctx, project, cost)
}

package backfill

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/problem"
)

// searchBucket is the name of the budget of searches in the state, which all replicas share.
const searchBucket = "backfillwork"

const (
	// maxCharge is the most that a search is charged: nobody is shut out for long by one request.
	maxCharge = time.Minute
	// chargeTimeout is how long the state may take to charge a project.
	chargeTimeout = 5 * time.Second
)

// checkBudget is a Limited error when the project's searches took more processor time than they may.
func (s *service) checkBudget(ctx context.Context, project string) error {
	budget := s.Settings.searches()
	if budget.Amount <= 0 {
		return nil
	}
	left, empty, err := s.Store.Charge(ctx, project, searchBucket, 0, budget)
	if err != nil || left > 0 {
		return err
	}
	e := problem.New(problem.Limited, "the runs for such requests of this project took more processor time than they may "+
		"(%v seconds a second): try again later", s.Settings.Cores)
	e.RetryAfter = max(empty, time.Second).Round(time.Second)
	e.Limit = &problem.Limit{Name: searchBucket, Amount: max(1, int(budget.Amount/time.Second)), Window: budget.Window}
	return e
}

// charge charges the project for the runs of a search, also when the server does not wait for the answer any more.
func (s *service) charge(ctx context.Context, project string, cost time.Duration) {
	s.metrics.recordCost(ctx, project, cost)
	budget := s.Settings.searches()
	if budget.Amount <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), chargeTimeout)
	defer cancel()
	if _, _, err := s.Store.Charge(ctx, project, searchBucket, min(cost, maxCharge), budget); err != nil {
		s.Log.WarnContext(ctx, "a search is not charged", "project", project, "cost", cost, "error", err)
	}
}

package adhoc

import (
	"context"
	"log/slog"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// chargeTime is how long the state may take to charge a project.
const chargeTime = 5 * time.Second

// Budget is how much processor time a project's requests of one kind may take. All replicas share it.
type Budget struct {
	// Name is the budget's name in the state.
	Name string
	state.Budget
	// Most is the most that one run is charged, 0 for no bound: one request does not shut a project out for long.
	Most  time.Duration
	Store *state.Store
	Log   *slog.Logger
}

// Again is 0 while something of a project's budget is left, else after how long to try again.
func (b Budget) Again(ctx context.Context, project string) (time.Duration, error) {
	if b.Amount <= 0 {
		return 0, nil
	}
	left, empty, err := b.Store.Charge(ctx, project, b.Name, 0, b.Budget)
	if err != nil || left > 0 {
		return 0, err
	}
	return max(empty, time.Second).Round(time.Second), nil
}

// Allow is refusal, with the time after which to try again, once a project's budget is used up.
func (b Budget) Allow(ctx context.Context, project string, refusal *problem.Error) error {
	again, err := b.Again(ctx, project)
	if err != nil || again == 0 {
		return err
	}
	refusal.RetryAfter = again
	return refusal
}

// Charge charges a project for work, also when the request has ended, and returns what is left.
func (b Budget) Charge(ctx context.Context, project string, cost time.Duration) (left time.Duration) {
	if b.Amount <= 0 || cost <= 0 {
		return b.Amount
	}
	if b.Most > 0 {
		cost = min(cost, b.Most)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), chargeTime)
	defer cancel()
	left, _, err := b.Store.Charge(ctx, project, b.Name, cost, b.Budget)
	if err != nil {
		b.Log.WarnContext(ctx, "work is not charged", "project", project, "budget", b.Name, "cost", cost, "error", err)
	}
	return left
}

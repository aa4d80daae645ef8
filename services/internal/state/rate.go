package state

import (
	"context"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
)

// Rate is a rate limit: a bucket that holds Burst and gains PerSecond. The zero Rate does not limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// bucket returns a rate as scripts need it: the microseconds for one, and for a whole burst.
func (r Rate) bucket() (interval, burst int64) {
	if r.PerSecond <= 0 {
		return 0, 0
	}
	interval = max(1, int64(1e6/r.PerSecond))
	return interval, interval * int64(r.Burst)
}

// LimitError returns the error of an empty bucket, with a code of the kind Limited. after is how long it stays empty.
func (r Rate) LimitError(
	code problem.Code, name string, after time.Duration, format string, args ...any,
) error {
	e := problem.New(code, format, args...)
	e.RetryAfter = after
	if r.PerSecond > 0 {
		e.Limit = &problem.Limit{Name: name, Amount: r.Burst,
			Window: time.Duration(float64(r.Burst) / r.PerSecond * float64(time.Second))}
	}
	return e
}

// Allow takes one from the bucket of this name in a project. All replicas share the bucket. Errors: Limited when it is
// empty.
func (s *Store) Allow(ctx context.Context, project, name string, rate Rate) error {
	return s.AllowN(ctx, project, name, rate, 1)
}

// AllowN takes n from the bucket, or what a full bucket holds when that is less. With n of 0 it only looks whether one
// is left. Errors: Limited when the bucket does not have them, and nothing was taken.
func (s *Store) AllowN(ctx context.Context, project, name string, rate Rate, n int) error {
	interval, burst := rate.bucket()
	if interval == 0 {
		return nil
	}
	var after uint64
	err := s.eval(ctx, s.call("rate_allow", keysOf(project), ids{},
		"bucket", name,
		"interval", interval,
		"burst", burst,
		"number", min(n, rate.Burst)), &after)
	if err != nil || after == 0 {
		return err
	}
	return rate.LimitError(problem.ProjectLimited, name, time.Duration(after)*time.Microsecond,
		"too many requests of this kind in this project: %v a second are allowed", rate.PerSecond)
}

// Budget is an amount of work in a window of time. What was used comes back evenly over the window. The zero Budget
// does not limit.
type Budget struct {
	Amount, Window time.Duration
}

// Charge takes what was used from a project's budget of this name, which may go below zero, and returns what is left
// and how long it takes until something is again. With nothing used it only looks. All replicas share the budget.
func (s *Store) Charge(
	ctx context.Context, project, name string, used time.Duration, b Budget,
) (left, empty time.Duration, err error) {
	if b.Amount <= 0 {
		return 0, 0, nil
	}
	perUsed := float64(b.Window) / float64(b.Amount)
	var untilFull uint64
	if err := s.eval(ctx, s.call("rate_charge", keysOf(project), ids{},
		"bucket", name,
		"amount", int64(float64(max(0, used).Microseconds())*perUsed),
		"window", b.Window.Microseconds()), &untilFull); err != nil {
		return 0, 0, err
	}
	missing := time.Duration(untilFull) * time.Microsecond
	left = b.Amount - time.Duration(float64(missing)/perUsed)
	return max(0, left), max(0, missing-b.Window), nil
}

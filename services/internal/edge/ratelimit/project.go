// Package ratelimit limits how often an API is called: by a project, where all replicas of a service share the limit
// because the state counts, or by each of its players, where a process counts by itself.
package ratelimit

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// Buckets are the projects' buckets: a *state.Store.
type Buckets interface {
	Allow(ctx context.Context, project, name string, rate state.Rate) error
}

// PerProject is a middleware that answers 429 when a project uses up the bucket of a name. It comes behind the check of
// the token: strangers use up no bucket.
func PerProject(buckets Buckets, name string, rate state.Rate) echo.MiddlewareFunc {
	r := refusals{last: map[string]refusal{}}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			project := auth.ProjectOf(c)
			if err := r.check(project, time.Now()); err != nil {
				return err
			}
			if err := buckets.Allow(c.Request().Context(), project, name, rate); err != nil {
				r.note(project, time.Now(), err)
				return err
			}
			return next(c)
		}
	}
}

// refusals are the projects whose buckets are empty. A bucket gains at a known rate, so Redis is not asked again before
// it has something: a flood of requests costs Redis no more than the requests that are allowed.
type refusals struct {
	mu   sync.Mutex
	last map[string]refusal
}

// refusal is an error, and when it was the answer.
type refusal struct {
	problem.Error
	at time.Time
}

// What is remembered at most: so many projects, each for so long. A Redis that lost a bucket is asked after that.
const (
	maxRefusals    = 4096
	maxRefusalTime = time.Second
)

// check is an error while the bucket of a project is empty.
func (r *refusals) check(project string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, is := r.last[project]
	if !is {
		return nil
	}
	if last.over(now) {
		delete(r.last, project)
		return nil
	}
	again := last.Error
	again.RetryAfter -= now.Sub(last.at)
	return &again
}

// note remembers an error if it says for how long the bucket is empty.
func (r *refusals) note(project string, now time.Time, err error) {
	refused, is := errors.AsType[*problem.Error](err)
	if !is || refused.Kind != problem.Limited || refused.RetryAfter <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) >= maxRefusals {
		maps.DeleteFunc(r.last, func(_ string, one refusal) bool { return one.over(now) })
	}
	if len(r.last) < maxRefusals {
		r.last[project] = refusal{*refused, now}
	}
}

// over tells whether the bucket may have something again, or is to be looked at.
func (r *refusal) over(now time.Time) bool {
	return now.Sub(r.at) >= min(r.RetryAfter, maxRefusalTime)
}

// Package ratelimit limits how often an API is called: by a project, where all replicas of a service share the limit
// because the state counts, or by each of its players, where a process counts by itself.
package ratelimit

import (
	"context"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/state"
)

// Buckets are the projects' buckets: a *state.Store.
type Buckets interface {
	Allow(ctx context.Context, project, name string, rate state.Rate) error
}

// PerProject is a middleware that answers 429 when a project uses up the bucket of a name. It comes behind the check of
// the token: strangers use up no bucket.
func PerProject(buckets Buckets, name string, rate state.Rate) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if err := buckets.Allow(c.Request().Context(), c.Param("project"), name, rate); err != nil {
				return err
			}
			return next(c)
		}
	}
}

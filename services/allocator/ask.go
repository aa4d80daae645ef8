package allocator

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/platform/wait"
)

// outcome is how the search for a server ended.
type outcome struct {
	// connection is where the server is, "" when there is none.
	connection string
	// err is why there is none.
	err error
	// mayHaveServer is set when the hosting system may give the match an unused server: the allocation is pending, or a
	// call whose answer was lost is still on its way.
	mayHaveServer bool
}

// ask asks for a match's server until there is one, there will be none, or ctx ends. It tells refused when there is
// none now.
func (s *service) ask(ctx context.Context, p *poller, r *provider.Request, refused func(error)) outcome {
	lost := !r.First // an answer was lost, if only to another allocator: its call may still arrive
	o := outcome{mayHaveServer: lost}
	pauses := backoff.ExponentialBackOff{
		InitialInterval: 50 * time.Millisecond, MaxInterval: 2 * time.Second, Multiplier: 2, RandomizationFactor: 0.5,
	}
	for {
		result, err := s.allocate(ctx, r)
		r.First = false
		for err == nil && result.Status == provider.Pending {
			o.mayHaveServer = true
			result, err = s.next(ctx, p, r)
		}
		if err == nil && result.Status == provider.Allocated {
			if why := assignment.ConnectionProblem(result.Connection, assignment.MaxConnection); why != "" {
				o.mayHaveServer = true // the hosting system holds it all the same
				err = provider.Fail(provider.Refused, "the hosting system's connection is none that players could use: %s", why)
			}
		}
		if reason := cmp.Or(err, result.Err); reason != nil {
			s.countError(ctx, r.Ref, reason)
			if provider.ReasonOf(reason) == provider.FleetEmpty {
				refused(reason)
			}
		}
		switch {
		case err == nil && result.Status == provider.Allocated:
			return outcome{connection: result.Connection, mayHaveServer: lost}
		case err == nil && result.Status == provider.Failed:
			return outcome{err: result.Err, mayHaveServer: lost}
		case err == nil: // the allocation is unknown: ask for it again
			unknown := provider.Fail(provider.Contention, "the hosting system lost the allocation")
			o.mayHaveServer, err = true, cmp.Or(result.Err, error(unknown))
		case provider.ReasonOf(err) == "":
			lost, o.mayHaveServer = true, true
		}
		if ctx.Err() == nil || o.err == nil || provider.ReasonOf(err) != "" {
			o.err = err // the end of ctx is the reason only where there is no other
		}
		if provider.Final(err) {
			return o
		}
		if ctx.Err() == nil {
			s.Log.WarnContext(ctx, "asking for a server again",
				"project", r.Project, "match", r.Match, "fleet", r.Hosting.Fleet, "error", err)
		}
		pause := pauses.NextBackOff()
		if e, ok := errors.AsType[*provider.Error](err); ok {
			pause = max(pause, e.RetryAfter)
		}
		if wait.For(ctx, pause) != nil {
			return o
		}
	}
}

// allocate calls Allocate once. A call that hangs ends, so that it is repeated.
func (s *service) allocate(ctx context.Context, r *provider.Request) (result provider.Result, err error) {
	_ = s.call(ctx, "hosting allocate", r.Ref, func(ctx context.Context) error {
		result, err = s.Provider.Allocate(ctx, r)
		return cmp.Or(err, result.Err)
	})
	return result, err
}

package allocator

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"matchmaker.dev/services/allocator/provider"
)

// The pauses between two tries for a server, unless the hosting system says when to come again.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// outcome is how the search for a server ended.
type outcome struct {
	// connection is where the server is, "" when there is none.
	connection string
	// err is why there is none.
	err error
	// held is whether the match may have a server all the same: an answer was lost, or somebody asked before.
	held bool
}

// ask asks for a match's server until there is one, there will be none, or ctx ends.
func (s *service) ask(ctx context.Context, p *poller, r *provider.Request) outcome {
	o := outcome{held: !r.First}
	pause := firstPause
	for {
		result, err := s.allocate(ctx, r)
		r.First = false
		for err == nil && result.Status == provider.Pending {
			o.held = true
			result, err = s.next(ctx, p, r.Ref)
		}
		if reason := cmp.Or(err, result.Err); reason != nil {
			s.failed(ctx, r.Hosting, reason)
		}
		switch {
		case err == nil && result.Status == provider.Allocated:
			return outcome{connection: result.Connection, held: true}
		case err == nil && result.Status == provider.Failed:
			return outcome{err: result.Err}
		case err == nil: // nobody knows of the allocation: it is asked for again
			o.held, err = true, provider.Fail(provider.Contention, "the hosting system lost the allocation")
		case provider.ReasonOf(err) == "":
			o.held = true // the answer was lost
		}
		if ctx.Err() == nil || o.err == nil || provider.ReasonOf(err) != "" {
			o.err = err // the end of the time is no reason, where there is another
		}
		if provider.Final(err) {
			return o
		}
		if ctx.Err() == nil {
			s.Log.WarnContext(ctx, "asking for a server again", "project", r.Project, "match", r.Match, "fleet", r.Hosting.Fleet, "error", err)
		}
		wait := pause/2 + rand.N(pause) //nolint:gosec // spreads those who wait, hides nothing
		if e, ok := errors.AsType[*provider.Error](err); ok {
			wait = max(wait, e.RetryAfter)
		}
		if sleep(ctx, wait) != nil {
			return o
		}
		pause = min(2*pause, mostPause)
	}
}

// allocate is one call. A hosting system that hangs is asked again.
func (s *service) allocate(ctx context.Context, r *provider.Request) (provider.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Settings.Call)
	defer cancel()
	ctx, span := s.called(ctx, "hosting allocate", r.Hosting)
	result, err := s.Provider.Allocate(ctx, r)
	s.answered(span, cmp.Or(err, result.Err))
	return result, err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

package allocator

import (
	"context"
	"errors"
	"sync"
	"time"

	"matchmaker.dev/services/internal/platform/wait"
)

// errLeaseLost means that another allocator has the match, or that it ended.
var errLeaseLost = errors.New("the lease of the match is lost")

// lease is one attempt at a match. Until it expires, no other allocator asks for the match's server.
type lease struct {
	holder string
	// renewed is when it was taken or renewed at the latest: it lasts at least until Hold after that.
	renewed time.Time
}

// whileLeased calls do, renews the lease of a match until do returns, and tells whether the lease was lost. The context
// of do ends when it is lost: when the match ended, another allocator took it over, or the state store did not answer
// before the lease expired.
func (s *service) whileLeased(
	ctx context.Context, project, match string, l *lease, do func(context.Context),
) (lost bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for wait.For(ctx, s.Settings.Hold/3) == nil {
			asked := time.Now()
			renewed, err := s.Store.SetMatchLease(ctx, project, match, l.holder, s.Settings.Hold)
			switch {
			case renewed:
				l.renewed = asked
			case err == nil, time.Since(l.renewed) > s.Settings.Hold:
				cancel(errLeaseLost)
				return
			}
		}
	})
	do(ctx)
	lost = errors.Is(context.Cause(ctx), errLeaseLost)
	cancel(nil)
	renewing.Wait()
	return lost
}

// endLease lets another allocator go on with a match at once.
func (s *service) endLease(ctx context.Context, project, match string, l *lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := s.Store.SetMatchLease(ctx, project, match, l.holder, 0); err != nil {
		s.Log.WarnContext(ctx, "the lease of a match was not ended, and has to expire",
			"project", project, "match", match, "error", err)
	}
}

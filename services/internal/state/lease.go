package state

import (
	"context"
	"time"
)

// Lease takes or renews the lease of a project for an owner, until now+hold. It
// returns the lease's epoch, 0 when another owner holds it. The epoch grows
// whenever the lease passes to another owner: claims made under an older one are refused.
func (s *Store) Lease(ctx context.Context, project, owner string, now time.Time, hold time.Duration) (epoch uint64, err error) {
	reply, err := s.run(ctx, leaseScript, []string{keysOf(project).lease()}, owner, millis(now), hold.Milliseconds())
	if err != nil {
		return 0, err
	}
	return positionOf(reply)
}

// Yield gives the lease up, so that another owner can take it at once.
func (s *Store) Yield(ctx context.Context, project, owner string, now time.Time) error {
	_, err := s.Lease(ctx, project, owner, now, 0)
	return err
}

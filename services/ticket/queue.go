package ticket

import (
	"context"

	"matchmaker.dev/services/internal/state"
)

// addUnserved notes on a ticket that waits which of its queues no config serves.
func (s *service) addUnserved(ctx context.Context, project string, t *state.Ticket) (err error) {
	if t == nil || t.Assignment != nil || len(t.Body.GetQueues()) == 0 {
		return nil
	}
	t.Unserved, err = s.Store.UnservedQueues(ctx, project, t.Body.GetQueues())
	return err
}

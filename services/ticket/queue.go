package ticket

import (
	"context"
	"slices"

	"matchmaker.dev/services/internal/state"
)

// addUnserved notes on each ticket that waits which of its queues no config serves.
func (s *service) addUnserved(ctx context.Context, project string, tickets ...*state.Ticket) error {
	var queues []string
	for _, t := range tickets {
		if t != nil && t.Assignment == nil {
			queues = append(queues, t.Body.GetQueues()...)
		}
	}
	if len(queues) == 0 {
		return nil
	}
	unserved, err := s.Store.UnservedQueues(ctx, project, queues)
	for _, t := range tickets {
		if err == nil && t != nil && t.Assignment == nil {
			t.Unserved = slices.DeleteFunc(slices.Clone(t.Body.GetQueues()), func(queue string) bool {
				return !slices.Contains(unserved, queue)
			})
		}
	}
	return err
}

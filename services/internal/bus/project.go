package bus

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// PurgeProject removes what the streams have of a project: the queue of its matches, the logs of its functions and its
// events. Its modules are of another store.
func (b *Bus) PurgeProject(ctx context.Context, project string) error {
	for stream, subject := range map[string]string{
		matchStream: matches + token(project), logStream: logs + token(project) + ".*", eventStream: events + token(project),
	} {
		s, err := b.js.Stream(ctx, stream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			return unavailable(err)
		}
		if err := s.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return unavailable(err)
		}
	}
	return nil
}

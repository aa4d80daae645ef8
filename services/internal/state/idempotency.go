package state

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/problem"
)

// keyDigest is how the Idempotency-Key of a player is stored.
func keyDigest(player, key string) string {
	digest := sha256.Sum256([]byte(player + "\n" + key))
	return string(digest[:digestSize])
}

// TicketOfKey reads the ticket that a create of a player with an Idempotency-Key made. Errors: NotFound when no such
// key is remembered, or the ticket has ended.
func (s *Store) TicketOfKey(ctx context.Context, project, player, key string) (*Ticket, error) {
	k, digest := keysOf(project), keyDigest(player, key)
	for _, turn := range []string{"0", "1"} {
		value, err := s.redis.HGet(ctx, k.idempotency(turn), digest).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, unavailable(err)
		}
		if len(value) <= digestSize {
			return nil, corrupt("Idempotency-Key", errors.New("its value has no ticket"))
		}
		return s.Ticket(ctx, project, value[digestSize:])
	}
	return nil, problem.New(problem.NotFound, "no ticket was created with this Idempotency-Key lately")
}

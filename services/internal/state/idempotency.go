package state

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/edge/problem"
)

// keyDigest is the stored form of a player's Idempotency-Key.
func keyDigest(player, key string) string {
	digest := sha256.Sum256([]byte(player + "\n" + key))
	return string(digest[:digestSize])
}

// CreatedBefore returns the ticket that the same request of a player with an Idempotency-Key created, "" if none is
// remembered.
func (s *Store) CreatedBefore(ctx context.Context, project, player, key string, request []byte) (string, error) {
	value, err := s.ofKey(ctx, project, player, key)
	ticket, same := strings.CutPrefix(value, requestDigest(request))
	if err != nil || !same {
		return "", err
	}
	return ticket, nil
}

// requestDigest is the stored form of a request with an Idempotency-Key.
func requestDigest(request []byte) string {
	digest := sha256.Sum256(request)
	return string(digest[:digestSize])
}

// ofKey reads what is stored for a key: the digest of the request, and the ticket; "" if it is not remembered.
func (s *Store) ofKey(ctx context.Context, project, player, key string) (string, error) {
	k, digest := keysOf(project), keyDigest(player, key)
	turns, err := forEach(ctx, s.redis, []string{"0", "1"}, func(p redis.Pipeliner, turn string) *redis.StringCmd {
		return p.HGet(ctx, k.idempotency(turn), digest)
	})
	if err != nil {
		return "", err
	}
	for _, turn := range turns {
		value, err := textOf(turn)
		switch {
		case err != nil:
			return "", err
		case value == "":
			continue
		}
		if len(value) <= digestSize {
			return "", corrupt("Idempotency-Key", errors.New("its value has no ticket"))
		}
		return value, nil
	}
	return "", nil
}

// TicketOfKey reads the ticket that a create of a player with an Idempotency-Key made. Errors: NotFound when no such
// key is remembered, or the ticket has ended.
func (s *Store) TicketOfKey(ctx context.Context, project, player, key string) (*Ticket, error) {
	value, err := s.ofKey(ctx, project, player, key)
	if err != nil {
		return nil, err
	}
	if value != "" {
		return s.Ticket(ctx, project, value[digestSize:])
	}
	return nil, problem.New(problem.TicketNotFound, "no ticket was created with this Idempotency-Key lately")
}

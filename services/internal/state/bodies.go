package state

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// tripBytes is about how many bytes of tickets are read in one round trip: their replies wait in Redis's memory until
// they are sent. tripTickets is how many tickets have no more than that, with their results.
const (
	tripBytes   = 1 << 20
	tripTickets = 8
)

// readTickets reads the fields b, s, a and x of tickets.
func (s *Store) readTickets(ctx context.Context, k keys, ids []string) ([][]any, error) {
	sizes, err := s.sizesOf(ctx, k, ids)
	if err != nil {
		return nil, err
	}
	all := make([][]any, 0, len(ids))
	err = readHashes(ctx, s.redis, ids, k.ticket, []string{"b", "s", "a", "x"}, sizes, tripBytes,
		func(_ int, read [][]any) error {
			all = append(all, read...)
			return nil
		})
	return all, err
}

// sizesOf reads the sizes of tickets and their results. It does not ask Redis when they are few.
func (s *Store) sizesOf(ctx context.Context, k keys, ids []string) ([]int, error) {
	sizes := make([]int, len(ids))
	if len(ids) <= tripTickets {
		return sizes, nil
	}
	cmds := make([]*redis.IntCmd, 2*len(ids))
	_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			cmds[2*i], cmds[2*i+1] = p.HStrLen(ctx, k.ticket(id), "b"), p.HStrLen(ctx, k.ticket(id), "a")
		}
		return nil
	})
	for i, cmd := range cmds {
		sizes[i/2] += int(cmd.Val())
	}
	return sizes, unavailable(err)
}

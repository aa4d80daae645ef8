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

// readTickets reads the fields b, s and a of tickets.
func (s *Store) readTickets(ctx context.Context, k keys, ids []string) ([][]any, error) {
	sizes, err := s.sizesOf(ctx, k, ids)
	if err != nil {
		return nil, err
	}
	all := make([][]any, 0, len(ids))
	for len(ids) > 0 {
		n, bytes := 0, int64(0)
		for n < len(ids) && (n == 0 || bytes+sizes[n] <= tripBytes) {
			bytes += sizes[n]
			n++
		}
		rows := make([]*redis.SliceCmd, n)
		_, err := s.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, id := range ids[:n] {
				rows[i] = p.HMGet(ctx, k.ticket(id), "b", "s", "a")
			}
			return nil
		})
		if err != nil {
			return nil, unavailable(err)
		}
		for _, row := range rows {
			all = append(all, row.Val())
		}
		ids, sizes = ids[n:], sizes[n:]
	}
	return all, nil
}

// sizesOf reads how large tickets and their results are. It does not ask when they are few.
func (s *Store) sizesOf(ctx context.Context, k keys, ids []string) ([]int64, error) {
	sizes := make([]int64, len(ids))
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
		sizes[i/2] += cmd.Val()
	}
	return sizes, unavailable(err)
}

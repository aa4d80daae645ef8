package state

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// ticketFields are the fields from which ticketChange makes a change, backfillFields those for backfillChange.
var (
	ticketFields   = []string{"s", "b"}
	backfillFields = []string{"v", "g", "c", "a", "d", "m", "n", "b", "h"}
)

func ticketChange(id string, fields []any) Change {
	if body, ok := fields[1].(string); ok && fields[0] == "w" {
		return Change{Ticket: id, Body: body}
	}
	return Change{Ticket: id}
}

func backfillChange(id string, fields []any) Change {
	return Change{Backfill: id, Body: describe(fields)}
}

func (s *Store) snapshot(ctx context.Context, k keys, sink Sink) error {
	if err := s.scan(ctx, k.waiting(), k.ticket, ticketFields, sink, ticketChange); err != nil {
		return err
	}
	return s.scan(ctx, k.backfills(), k.backfill, backfillFields, sink, backfillChange)
}

// scan reads fields of the hash of each member of a set, and gives the sink the changes that change makes of them.
func (s *Store) scan(
	ctx context.Context, set string, key func(id string) string, fields []string, sink Sink,
	change func(id string, fields []any) Change,
) error {
	var cursor uint64
	for {
		pairs, next, err := s.feeds.ZScan(ctx, set, cursor, "", snapshotStep).Result()
		if err != nil {
			return err
		}
		rows := make([]*redis.SliceCmd, len(pairs)/2)
		_, err = s.feeds.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := range rows {
				rows[i] = p.HMGet(ctx, key(pairs[2*i]), fields...)
			}
			return nil
		})
		if err != nil {
			return err
		}
		changes := make([]Change, 0, len(rows))
		for i, row := range rows {
			if c := change(pairs[2*i], row.Val()); c.Body != "" {
				changes = append(changes, c)
			}
		}
		if len(changes) > 0 {
			sink.Apply(changes, 0)
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

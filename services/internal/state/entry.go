package state

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// rowsAtOnce is how many hashes are read in a round trip when each may be as large as a ticket or a backfill ticket
// can be.
const rowsAtOnce = 16

// subject is the ticket or the backfill ticket of a change.
type subject struct{ ticket, backfill string }

func (c *Change) of() subject { return subject{c.Ticket, c.Backfill} }

// read appends the changes in a reply of XREAD.
func (s *Store) read(
	ctx context.Context, k keys, reply any, changes []Change, position uint64,
) ([]Change, uint64, error) {
	changes, named, position, err := decode(reply, changes, position)
	if err == nil && len(named) > 0 {
		err = s.complete(ctx, k, changes, named)
	}
	return changes, position, err
}

// complete gives their bodies to those changes that entries only name; named are their numbers. What is read may be
// newer than the entry. Then a later entry has the later change too.
func (s *Store) complete(ctx context.Context, k keys, changes []Change, named []int) error {
	last := map[subject]int{}
	for i := range changes {
		last[changes[i].of()] = i
	}
	// A change that another one follows may stay without its body, as if the ticket had gone.
	named = slices.DeleteFunc(named, func(i int) bool { return last[changes[i].of()] != i })
	for some := range slices.Chunk(named, rowsAtOnce) {
		rows := make([]*redis.SliceCmd, len(some))
		_, err := s.feeds.Pipelined(ctx, func(p redis.Pipeliner) error {
			for n, i := range some {
				if c := changes[i]; c.Ticket != "" {
					rows[n] = p.HMGet(ctx, k.ticket(c.Ticket), ticketFields...)
				} else {
					rows[n] = p.HMGet(ctx, k.backfill(c.Backfill), backfillFields...)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for n, i := range some {
			if c := &changes[i]; c.Ticket != "" {
				*c = ticketChange(c.Ticket, rows[n].Val())
			} else {
				*c = backfillChange(c.Backfill, rows[n].Val())
			}
		}
	}
	return nil
}

// decode appends the changes in a reply of XREAD: [[stream, [[id, [name, value, …]], …]]]. named are the numbers of
// those that an entry only names, as '@<ticket>' or '%<backfill>': the ticket waits, or the backfill ticket is shown,
// and it has the body. The reply is read raw because the client's own type loses the fields' order.
func decode(reply any, changes []Change, position uint64) (_ []Change, named []int, _ uint64, err error) {
	streams, ok := reply.([]any)
	if !ok || len(streams) != 1 {
		return nil, nil, 0, fmt.Errorf("state: unexpected reply of XREAD: %T", reply)
	}
	stream, err := listOf(streams[0], 2)
	if err != nil {
		return nil, nil, 0, err
	}
	entries, err := listOf(stream[1], 0)
	if err != nil {
		return nil, nil, 0, err
	}
	for _, e := range entries {
		entry, err := listOf(e, 2)
		if err != nil {
			return nil, nil, 0, err
		}
		id, _ := entry[0].(string)
		number, _, _ := strings.Cut(id, "-")
		at, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return nil, nil, 0, corrupt("feed", err)
		}
		// Positions have no holes. A hole means that entries were trimmed before they were read.
		if at != position+1 {
			return nil, nil, 0, errGap
		}
		position = at
		fields, err := listOf(entry[1], 0)
		if err != nil {
			return nil, nil, 0, err
		}
		for i := 0; i+1 < len(fields); i += 2 {
			name, _ := fields[i].(string)
			body, _ := fields[i+1].(string)
			switch {
			case strings.HasPrefix(name, "@"):
				named = append(named, len(changes))
				changes = append(changes, Change{Ticket: name[1:]})
			case strings.HasPrefix(name, "%"):
				named = append(named, len(changes))
				changes = append(changes, Change{Backfill: name[1:]})
			case strings.HasPrefix(name, "+") && body != "":
				changes = append(changes, Change{Ticket: name[1:], Body: body})
			case name == "-":
				for id := range strings.SplitSeq(body, " ") {
					changes = append(changes, Change{Ticket: id})
				}
			case strings.HasPrefix(name, "-"):
				changes = append(changes, Change{Ticket: name[1:]})
			case strings.HasPrefix(name, "*") && body != "":
				changes = append(changes, Change{Backfill: name[1:], Body: body})
			case strings.HasPrefix(name, "/"):
				changes = append(changes, Change{Backfill: name[1:]})
			}
		}
	}
	return changes, named, position, nil
}

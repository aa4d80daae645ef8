package state

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// rowKind is a kind of hash of which changes are made.
type rowKind struct {
	fields []string
	key    func(k keys, id string) string
	// sizes is the hash with the bytes of the large ones; the others have unlisted at most. rowBytes is the most.
	sizes    func(k keys) string
	unlisted int
	// change makes a change of the fields. Its body is "" when functions do not see the ticket.
	change func(id string, fields []any) Change
}

// rowBytes is how many bytes a hash of unknown size may take: two bodies.
const rowBytes = 128 << 10

// otherBytes is for what the sizes do not count: the other fields.
const otherBytes = 256

// rowsAtOnce is the most hashes that are read in a round trip.
const rowsAtOnce = 1000

var (
	ticketRows = rowKind{
		fields: []string{"s", "b"}, key: keys.ticket, sizes: keys.largeSizes, unlisted: largeSize + 64, change: ticketChange,
	}
	backfillRows = rowKind{
		fields: []string{"v", "g", "c", "a", "d", "m", "n", "b", "h", "q", "y"}, key: keys.backfill,
		sizes: keys.backfillSizes, unlisted: rowBytes, change: backfillChange,
	}
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

// rows reads the hashes of ids and calls take with each change and the number of its id, in order. It reads at most
// about replyBytes at once, and calls between, if not nil, after each round trip.
func (s *Store) rows(
	ctx context.Context, k keys, kind *rowKind, ids []string, take func(i int, c Change), between func() error,
) error {
	sizes, err := s.rowSizes(ctx, k, kind, ids)
	if err != nil {
		return err
	}
	key := func(id string) string { return kind.key(k, id) }
	took := func(first int, read [][]any) error {
		for i, row := range read {
			take(first+i, kind.change(ids[first+i], row))
		}
		if between == nil {
			return nil
		}
		return between()
	}
	return readHashes(ctx, s.feeds, ids, key, kind.fields, sizes, replyBytes, took)
}

// readHashes reads fields of the hashes of ids, which have at most these sizes: about so many bytes, and rowsAtOnce
// hashes, in a round trip. It calls take after each, with the number of its first id.
func readHashes(
	ctx context.Context, client redis.UniversalClient, ids []string, key func(id string) string, fields []string,
	sizes []int, most int, take func(first int, read [][]any) error,
) error {
	for first := 0; first < len(ids); {
		last, bytes := first+1, sizes[first]
		for last < len(ids) && last-first < rowsAtOnce && bytes+sizes[last] <= most {
			bytes += sizes[last]
			last++
		}
		cmds, err := forEach(ctx, client, ids[first:last], func(p redis.Pipeliner, id string) *redis.SliceCmd {
			return p.HMGet(ctx, key(id), fields...)
		})
		if err != nil {
			return err
		}
		read := make([][]any, len(cmds))
		for i, cmd := range cmds {
			if read[i], err = rowOf(cmd); err != nil {
				return unavailable(err)
			}
		}
		if err := take(first, read); err != nil {
			return err
		}
		first = last
	}
	return nil
}

// rowSizes returns bounds of the bytes of the hashes of ids. It does not look up few.
func (s *Store) rowSizes(ctx context.Context, k keys, kind *rowKind, ids []string) ([]int, error) {
	sizes := make([]int, len(ids))
	if len(ids)*rowBytes <= replyBytes {
		return sizes, nil
	}
	listed, err := rowOf(s.feeds.HMGet(ctx, kind.sizes(k), ids...))
	if err != nil {
		return nil, err
	}
	var in replied
	for i := range sizes {
		sizes[i] = kind.unlisted
		if listed[i] != nil {
			sizes[i] = int(in.digits(listed[i])) + otherBytes
		}
	}
	return sizes, in.err
}

package state

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// The states of a backfill ticket that is listed.
const (
	ListedOpen     = "open"     // functions see it
	ListedApproval = "approval" // its server must approve first
	ListedLapsed   = "lapsed"   // its server did not approve in time
)

// ListedBackfill is a backfill ticket.
type ListedBackfill struct {
	*pb.Backfill
	State string
	// Heard is when its server called last, and Joining how many matches go to the game.
	Heard   time.Time
	Joining int64
}

// ListBackfills lists the backfill tickets of a project from behind a place on, the one whose server called last first,
// until take is false. It returns the place to go on behind, "" at the end.
func (s *Store) ListBackfills(
	ctx context.Context, project string, from Cursor, take func(*ListedBackfill) bool,
) (next string, err error) {
	k := keysOf(project)
	next, _, err = page(ctx, s, []string{k.backfills()}, from,
		func(_ int, p redis.Pipeliner, z redis.Z) readRecord[ListedBackfill] {
			return readBackfill(ctx, k, p, memberOf(z), z.Score)
		}, take)
	return next, err
}

// ListBackfill lists one backfill ticket, if it is there.
func (s *Store) ListBackfill(ctx context.Context, project, id string, take func(*ListedBackfill) bool) error {
	k := keysOf(project)
	heard, err := s.redis.ZScore(ctx, k.backfills(), id).Result()
	if errors.Is(err, redis.Nil) {
		return nil
	} else if err != nil {
		return unavailable(err)
	}
	p := s.redis.Pipeline()
	read := readBackfill(ctx, k, p, id, heard)
	if _, err := p.Exec(ctx); err != nil {
		return unavailable(err)
	}
	b, err := read()
	if b != nil {
		take(b)
	}
	return err
}

// readBackfill reads a backfill ticket whose server called last at a time, in Unix milliseconds.
func readBackfill(ctx context.Context, k keys, p redis.Pipeliner, id string, heard float64) readRecord[ListedBackfill] {
	row := p.HMGet(ctx, k.backfill(id), "v", "c", "o", "b", "a", "d", "m", "h", "q", "y")
	going := p.HLen(ctx, k.joining(id))
	return func() (*ListedBackfill, error) {
		b, err := listedBackfill(id, row)
		if b != nil {
			b.Heard, b.Joining = time.UnixMilli(int64(heard)), going.Val()
		}
		return b, err
	}
}

// listedBackfill is a backfill ticket by what is stored of it; nil if it was deleted.
func listedBackfill(id string, row *redis.SliceCmd) (*ListedBackfill, error) {
	var in replied
	fields := in.texts(in.row(row))
	if in.err != nil || fields[0] == "" {
		return nil, in.err
	}
	b, err := backfillOfRow(id, in.digits(fields[0]), 0, in.digits(fields[1]), cmp.Or(fields[4], fields[5]),
		fields[3]+fields[8]+fields[9])
	if err != nil {
		return nil, err
	}
	b.Match = fields[2]
	state := ListedOpen
	switch hidden := fields[7]; {
	case fields[6] != "":
		state = ListedAllocating
	case strings.HasPrefix(hidden, "a:"):
		state = ListedAsking
	case hidden == "p":
		state = ListedApproval
	case hidden == "l":
		state = ListedLapsed
	}
	return &ListedBackfill{Backfill: b, State: state}, in.err
}

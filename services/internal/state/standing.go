package state

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Counts is how much there is of a project's things at a moment.
type Counts struct {
	// Waiting tickets, and when the oldest of them was created; zero when none waits.
	Waiting int64
	Oldest  time.Time
	// Matches that have claimed tickets and no result, and those of them that may not be in the work queue yet.
	Matches, Outbox int64
	// Backfills are backfill tickets, Proposed those of them that have tickets which wait for approval.
	Backfills, Proposed int64
}

// Counts counts a project's things, in one round trip.
func (s *Store) Counts(ctx context.Context, project string) (Counts, error) {
	k := keysOf(project)
	pipe := s.redis.Pipeline()
	waiting, oldest := pipe.ZCard(ctx, k.waiting()), pipe.ZRangeWithScores(ctx, k.waiting(), 0, 0)
	matches, outbox := pipe.ZCard(ctx, k.claims()), pipe.ZCard(ctx, k.outbox())
	backfills, proposed := pipe.ZCard(ctx, k.backfills()), pipe.ZCard(ctx, k.proposed())
	if _, err := pipe.Exec(ctx); err != nil {
		return Counts{}, unavailable(err)
	}
	now := Counts{Waiting: waiting.Val(), Matches: matches.Val(), Outbox: outbox.Val(), Backfills: backfills.Val(), Proposed: proposed.Val()}
	if first := oldest.Val(); len(first) > 0 {
		now.Oldest = time.UnixMilli(int64(first[0].Score))
	}
	return now, nil
}

// CreationTime is when a ticket was created, as its id tells, which is a UUID of version 7; false for another id.
func CreationTime(ticket string) (time.Time, bool) {
	id, err := uuid.Parse(ticket)
	if err != nil || id.Version() != 7 {
		return time.Time{}, false
	}
	var ms int64
	for _, b := range id[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms), true
}

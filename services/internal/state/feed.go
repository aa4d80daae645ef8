package state

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"matchmaker.dev/services/internal/platform/wait"
)

// Change is one change of a project's waiting tickets, or of the backfill tickets that functions see.
type Change struct {
	// Ticket is "" for a change of a backfill ticket.
	Ticket   string
	Backfill string
	// Body is the marshalled pb.Ticket of a ticket that waits from now on, or the input of DecodeBackfill. It is "" when
	// the ticket no longer waits, or the backfill ticket is no longer shown.
	Body string
	// Claimed is set of a ticket that no longer waits, since a match has it.
	Claimed bool
}

// Sink receives what Follow reads. Its methods are called from one goroutine.
type Sink interface {
	// Reset makes all earlier changes void. A snapshot follows.
	Reset()
	// Apply receives changes, in order. position is the feed's position after them, 0 while a snapshot is incomplete. Only
	// the call that completes a snapshot has no changes.
	Apply(changes []Change, position uint64)
}

// How often the name of a feed with steady entries is checked, and the pause after an error.
const (
	checkEvery = time.Second
	feedPause  = 200 * time.Millisecond
)

var errGap = errors.New("the feed has been trimmed beyond this reader, or replaced")

// Follow gives the sink a snapshot of a project's waiting tickets and of the backfill tickets that functions are shown,
// and then every change, until ctx ends. It starts again from a snapshot after any error, and when the feed was trimmed
// before it was read. wake, if not nil, says that the feed may have entries that were not read yet. Without it they are
// read within a second.
func (s *Store) Follow(ctx context.Context, project string, sink Sink, wake <-chan struct{}) {
	for ctx.Err() == nil {
		err := s.follow(ctx, project, sink, wake)
		if ctx.Err() != nil {
			return
		}
		s.log.WarnContext(ctx, "reading the feed again from a snapshot", "project", project, "error", err)
		_ = wait.For(ctx, feedPause)
	}
}

// nameFeed gives a new feed a new name, since positions alone do not tell it from the old one. A full Redis refuses
// that, and the feed is read all the same: it has no name until a reader starts that finds memory.
func (s *Store) nameFeed(ctx context.Context, k keys) error {
	name, _, err := s.feedPosition(ctx, k)
	if err != nil || name != "" {
		return err
	}
	// A runner may call SETNX and not SET: it must not change a name.
	named := redis.NewBoolCmd(ctx, "setnx", k.feedName(), uuid.NewString())
	if err := s.feeds.Process(ctx, named); err != nil && !isFull(err) {
		return err
	}
	return nil
}

// feedPosition reads the feed's name and its position.
func (s *Store) feedPosition(ctx context.Context, k keys) (name string, position uint64, err error) {
	return positionIn(s.feeds.MGet(ctx, k.feedName(), k.feedSeq()))
}

// positionIn reads the reply to an MGET of name and position.
func positionIn(reply *redis.SliceCmd) (name string, position uint64, err error) {
	var in replied
	row := in.row(reply)
	name, position = in.text(row[0]), in.position(row[1])
	return name, position, in.err
}

// Position reads the feed's position. It goes back only when Redis lost data.
func (s *Store) Position(ctx context.Context, project string) (uint64, error) {
	_, n, err := s.feedPosition(ctx, keysOf(project))
	return n, unavailable(err)
}

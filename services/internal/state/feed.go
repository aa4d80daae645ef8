package state

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// Change is one change of a project's waiting tickets, or of the backfill tickets that functions are shown.
type Change struct {
	// Ticket is "" when the change is one of a backfill ticket.
	Ticket   string
	Backfill string
	// Body is the marshalled pb.Ticket of a ticket that waits from now on, what Shown reads of a backfill ticket;
	// "" for one that no longer waits, or is no longer shown.
	Body string
}

// Sink takes in what Follow reads. Its methods are called from one goroutine.
type Sink interface {
	// Reset says that what was taken in before is void.
	Reset()
	// Apply takes in changes, in order. position is the feed position reached with
	// them; 0 while a snapshot is still incomplete. The call that completes a snapshot, and only that, has no changes.
	Apply(changes []Change, position uint64)
}

// How the feed is read: entries a call, the longest wait of one call, the pause
// after an error, tickets of a snapshot a round trip.
const (
	feedCount    = 1000
	feedBlock    = time.Second
	feedPause    = 200 * time.Millisecond
	snapshotStep = 1000
)

var errGap = errors.New("the feed has been trimmed beyond this reader, or replaced")

// Follow gives the sink a snapshot of a project's waiting tickets and of the backfill tickets that functions are shown,
// and then every change, as it is made, until ctx ends. After any error, and when it fell behind what the feed keeps,
// it starts again from a snapshot.
func (s *Store) Follow(ctx context.Context, project string, sink Sink) {
	for ctx.Err() == nil {
		err := s.follow(ctx, project, sink)
		if ctx.Err() != nil {
			return
		}
		s.log.WarnContext(ctx, "reading the feed again from a snapshot", "project", project, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(feedPause):
		}
	}
}

func (s *Store) follow(ctx context.Context, project string, sink Sink) error {
	k, met := keysOf(project), s.primary.changeCount()
	// The name of this feed: one that is begun anew has another, whatever its positions are.
	if err := s.feeds.SetNX(ctx, k.feedName(), uuid.NewString(), 0).Err(); err != nil {
		return err
	}
	// Changes made while the snapshot is read are applied once more after it, which
	// does no harm: the last change of a ticket wins.
	name, position, err := s.feedPosition(ctx, k)
	if err != nil {
		return err
	}
	checked := time.Now()
	sink.Reset()
	if err := s.snapshot(ctx, k, sink); err != nil {
		return err
	}
	sink.Apply(nil, position)
	var changes []Change
	for {
		xread := redis.NewCmd(ctx, "XREAD", "COUNT", feedCount, "BLOCK", feedBlock.Milliseconds(),
			"STREAMS", k.feed(), strconv.FormatUint(position, 10)+"-0")
		xread.SetFirstKeyPos(6) // tells a cluster's client which server it is for
		_ = s.feeds.Process(ctx, xread)
		reply, err := xread.Result()
		idle := errors.Is(err, redis.Nil)
		if err != nil && !idle {
			return err
		}
		if s.primary.changeCount() != met {
			return errGap
		}
		if idle || time.Since(checked) > feedBlock {
			if err := s.checkFeed(ctx, k, name, position); err != nil {
				return err
			}
			checked = time.Now()
		}
		if idle {
			continue
		}
		if changes, position, err = read(reply, changes[:0], position); err != nil {
			return err
		}
		sink.Apply(changes, position)
	}
}

// checkFeed checks that the feed is the one that the reader began with, and that its position has not gone back, as
// with a Redis that lost its data or was replaced by a replica that lagged.
func (s *Store) checkFeed(ctx context.Context, k keys, name string, position uint64) error {
	named, now, err := s.feedPosition(ctx, k)
	if err == nil && (named != name || now < position) {
		return errGap
	}
	return err
}

// feedPosition is the feed's name and its position now.
func (s *Store) feedPosition(ctx context.Context, k keys) (name string, position uint64, err error) {
	values, err := s.feeds.MGet(ctx, k.feedName(), k.feedSeq()).Result()
	if err != nil {
		return "", 0, err
	}
	name, _ = values[0].(string)
	if text, ok := values[1].(string); ok {
		position, err = strconv.ParseUint(text, 10, 64)
	}
	return name, position, err
}

// Position is the feed's position now. It goes back only when Redis lost what it had.
func (s *Store) Position(ctx context.Context, project string) (uint64, error) {
	_, n, err := s.feedPosition(ctx, keysOf(project))
	return n, unavailable(err)
}

func (s *Store) snapshot(ctx context.Context, k keys, sink Sink) error {
	err := s.scan(ctx, k.waiting(), k.ticket, []string{"s", "b"}, sink, func(id string, fields []any) (Change, bool) {
		body, ok := fields[1].(string)
		return Change{Ticket: id, Body: body}, ok && fields[0] == "w"
	})
	if err != nil {
		return err
	}
	return s.scan(ctx, k.backfills(), k.backfill, []string{"v", "g", "c", "a", "d", "m", "n", "b", "h"}, sink,
		func(id string, fields []any) (Change, bool) {
			body := describe(fields)
			return Change{Backfill: id, Body: body}, body != ""
		})
}

// scan gives the sink a change for each member of a set, made of fields of the hash at its key, but for those that are
// none.
func (s *Store) scan(
	ctx context.Context, set string, key func(id string) string, fields []string, sink Sink, change func(id string,
		fields []any) (Change, bool),
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
			if c, ok := change(pairs[2*i], row.Val()); ok {
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

// read takes the changes out of a reply of XREAD: [[stream, [[id, [name, value, …]], …]]].
// The reply is read raw because the client's own type loses the fields' order.
func read(reply any, changes []Change, position uint64) ([]Change, uint64, error) {
	streams, ok := reply.([]any)
	if !ok || len(streams) != 1 {
		return nil, 0, fmt.Errorf("state: unexpected reply of XREAD: %T", reply)
	}
	stream, err := listOf(streams[0], 2)
	if err != nil {
		return nil, 0, err
	}
	entries, err := listOf(stream[1], 0)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		entry, err := listOf(e, 2)
		if err != nil {
			return nil, 0, err
		}
		id, _ := entry[0].(string)
		number, _, _ := strings.Cut(id, "-")
		at, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return nil, 0, corrupt("feed", err)
		}
		// Positions have no holes: a hole is what was trimmed before it was read.
		if at != position+1 {
			return nil, 0, errGap
		}
		position = at
		fields, err := listOf(entry[1], 0)
		if err != nil {
			return nil, 0, err
		}
		for i := 0; i+1 < len(fields); i += 2 {
			name, _ := fields[i].(string)
			body, _ := fields[i+1].(string)
			switch {
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
	return changes, position, nil
}

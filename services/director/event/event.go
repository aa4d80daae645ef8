// Package event publishes the events of a project: every event once and in order, even if processes die.
//
// The scripts that change the state write the history. So the history has an event for every change, and no others. A
// message on the bus names the position in the history behind its events: the next publisher goes on from there. The
// bus refuses a message from a publisher that has not seen the last one. So two publishers at the same time, such as a
// director that stood still and its successor, publish no event twice.
package event

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/internal/state"
)

// The history is read minPause after something happened, and maxPause after the last time in any case, or quietPause in
// a quiet project. While hosting is at work it is read lookPause after the last events, and then after twice as long
// each time. What was published is noted every notePause while more comes. After a failure the publisher waits for
// retryPause.
const (
	minPause   = 100 * time.Millisecond
	lookPause  = 2 * minPause
	maxPause   = time.Second
	notePause  = 4 * time.Second
	quietPause = 30 * time.Second
	retryPause = time.Second
)

// batch is how many entries of the history are read at a time.
const batch = 200

// Bus is what a publisher needs of the bus: a *bus.Bus.
type Bus interface {
	LastEvents(ctx context.Context, project string) (*pb.Events, bus.EventTail, error)
	PublishEvents(ctx context.Context, e *pb.Events, last bus.EventTail) (tail bus.EventTail, removed uint64, err error)
}

// Publisher publishes the events of one project.
type Publisher struct {
	Store   *state.Store
	Bus     Bus
	Log     *slog.Logger
	Project string
	// Wake says that something may have happened. Without it events are published up to a second later.
	Wake notify.Signal
	// Quiet reports whether nothing is expected to happen in the project; may be nil.
	Quiet func() bool
	// Removed gets the number of messages of the project's events that were removed because it had more than its share;
	// may be nil.
	Removed func(ctx context.Context, messages uint64)
	// Published gets the published events, in order, and the time until which there were no others: the zero time if there
	// were. It must not block; may be nil.
	Published func(entries []state.HistoryEntry, until time.Time)
}

// Run publishes until ctx ends.
func (p *Publisher) Run(ctx context.Context) {
	for failing := false; ctx.Err() == nil; {
		err := p.publish(ctx, func() {
			if failing {
				p.Log.InfoContext(ctx, "events are published again")
			}
			failing = false
		})
		if ctx.Err() != nil {
			return
		}
		if !errors.Is(err, bus.ErrEventConflict) && !failing {
			p.Log.WarnContext(ctx, "events are kept until they can be published", "error", err)
			failing = true
		}
		_ = wait.For(ctx, retryPause)
	}
}

// publish goes on after the last event that was published, until something fails. It calls caughtUp when all events are
// published.
func (p *Publisher) publish(ctx context.Context, caughtUp func()) error {
	at, last, err := p.resume(ctx)
	if err != nil {
		return err
	}
	noted, before := time.Time{}, max(last.Sequence, at.GetMessage())
	unnoted := at != nil && at.GetMessage() != before
	for wait := maxPause; ; {
		until := p.Store.Now()
		entries, err := p.Store.History(ctx, p.Project, at, batch)
		if err != nil {
			return err
		}
		for _, e := range p.messages(entries) {
			var removed uint64
			e.After = before
			if last, removed, err = p.Bus.PublishEvents(ctx, e, last); err != nil {
				return err
			}
			if removed > 0 && p.Removed != nil {
				p.Removed(ctx, removed)
			}
			at, before, unnoted = e.GetBookmark(), max(before, last.Sequence), true // of a stream that was begun anew
		}
		more := len(entries) >= batch
		if p.Published != nil { // first: what is on the bus does not come again
			told := until
			if more {
				told = time.Time{}
			}
			p.Published(entries, told)
		}
		// What is published is trimmed in steps: the last message says where to go on.
		if unnoted && (more || len(entries) == 0 || until.Sub(noted) >= notePause) {
			at.Message = before
			if err := p.Store.SetBookmark(ctx, p.Project, at); err != nil {
				return err
			}
			noted, unnoted = until, false
		}
		if more {
			continue
		}
		caughtUp()
		switch {
		case isUnderWay(entries):
			wait = lookPause
		case len(entries) > 0:
			wait = maxPause
		case p.Quiet != nil && p.Quiet():
			wait = quietPause
		default:
			wait = min(2*wait, maxPause)
		}
		if err := p.rest(ctx, wait); err != nil {
			return err
		}
	}
}

// isUnderWay reports whether an allocator is about to write more of a match.
func isUnderWay(entries []state.HistoryEntry) bool {
	under := map[string]bool{}
	for _, t := range entries {
		for _, one := range t.Events {
			under[one.GetMatch()] = one.GetKind() == pb.Event_KIND_CLAIMED || one.GetKind() == pb.Event_KIND_ALLOCATING
		}
	}
	return slices.Contains(slices.Collect(maps.Values(under)), true)
}

// resume returns the place up to which the history is published, and the position of the last message. The stream has
// both, unless all of the project's messages have expired.
func (p *Publisher) resume(ctx context.Context) (at *pb.Bookmark, last bus.EventTail, err error) {
	e, last, err := p.Bus.LastEvents(ctx, p.Project)
	if err != nil || e != nil {
		return e.GetBookmark(), last, err
	}
	at, err = p.Store.Bookmark(ctx, p.Project)
	return at, bus.EventTail{}, err
}

// messages packs entries of the history into messages that are not too large for the bus.
func (p *Publisher) messages(entries []state.HistoryEntry) []*pb.Events {
	var all []*pb.Events
	size := bus.MaxEventBytes
	for _, t := range entries {
		if size >= bus.MaxEventBytes {
			all, size = append(all, &pb.Events{Project: p.Project}), 0
		}
		e := all[len(all)-1]
		for _, one := range t.Events {
			if one.GetTime() == 0 {
				one.Time = p.Store.Now().UnixMilli()
			}
			size += proto.Size(one)
		}
		e.Events, e.Bookmark = append(e.Events, t.Events...), t.Bookmark
	}
	return all
}

// rest waits until the wait is over, or minPause after something happened: what happens together shares a message.
func (p *Publisher) rest(ctx context.Context, most time.Duration) error {
	select {
	case <-p.Wake.C():
		_ = wait.For(ctx, minPause)
	case <-time.After(most):
	case <-ctx.Done():
	}
	select {
	case <-p.Wake.C(): // it is about to be read
	default:
	}
	return context.Cause(ctx)
}

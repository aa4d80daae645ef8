// Package event publishes what happened in a project, out of the history that the state keeps, for whoever wants to
// know: every event once and in order, whichever process dies.
//
// The history is written by the scripts that make the changes, so it has no event of what did not happen, and misses none.
// A message on the bus names the place in the history behind its events. Whoever publishes next goes on
// from there, and the bus takes a message only from one who has seen the last: so two who publish at the
// same time, as a director that stood still and its successor do, tell nothing twice.
package event

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/notify"
	"matchmaker.dev/services/internal/state"
)

// How often the history is read: after something happened, and at the longest when nothing does; and after a failure.
const (
	soon  = 50 * time.Millisecond
	late  = time.Second
	pause = time.Second
)

// batch is how many entries of the history are read at a time.
const batch = 200

// Publisher publishes the events of one project.
type Publisher struct {
	Store   *state.Store
	Bus     *bus.Bus
	Log     *slog.Logger
	Now     func() time.Time
	Project string
	// Wake says that something may have happened. Without it events are published up to a second later.
	Wake notify.Signal
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
		sleep(ctx, pause)
	}
}

// publish goes on from what was published last, until something fails. well is called when all that had happened is published.
func (p *Publisher) publish(ctx context.Context, well func()) error {
	at, last, err := p.resume(ctx)
	if err != nil {
		return err
	}
	for wait := soon; ; {
		tellings, err := p.Store.History(ctx, p.Project, at, batch)
		if err != nil {
			return err
		}
		for _, e := range p.messages(tellings) {
			if last, err = p.Bus.PublishEvents(ctx, e, last); err != nil {
				return err
			}
			at = e.GetBookmark()
		}
		if len(tellings) > 0 {
			if err := p.Store.SetBookmark(ctx, p.Project, at); err != nil {
				return err
			}
			wait = soon
		}
		if len(tellings) == batch {
			continue
		}
		well()
		woken, err := p.rest(ctx, wait)
		if err != nil {
			return err
		}
		if wait = min(2*wait, late); woken {
			wait = soon
		}
	}
}

// resume finds out up to where the history is published: the stream knows for sure, unless it has
// nothing of this project any more.
func (p *Publisher) resume(ctx context.Context) (at *pb.Bookmark, last uint64, err error) {
	e, last, err := p.Bus.LastEvents(ctx, p.Project)
	if err != nil || e != nil {
		return e.GetBookmark(), last, err
	}
	at, err = p.Store.Bookmark(ctx, p.Project)
	return at, 0, err
}

// messages packs what happened into messages that the bus carries.
func (p *Publisher) messages(tellings []state.HistoryEntry) []*pb.Events {
	var all []*pb.Events
	size := bus.MaxEventBytes
	for _, t := range tellings {
		if size >= bus.MaxEventBytes {
			all, size = append(all, &pb.Events{Project: p.Project}), 0
		}
		e := all[len(all)-1]
		for _, one := range t.Events {
			if one.GetTime() == 0 {
				one.Time = p.Now().UnixMilli()
			}
			size += proto.Size(one)
		}
		e.Events, e.Bookmark = append(e.Events, t.Events...), t.Bookmark
	}
	return all
}

// rest waits: a little in any case, so that the events of a crowd share a message, then until something happens or
// the wait is over.
func (p *Publisher) rest(ctx context.Context, wait time.Duration) (woken bool, err error) {
	sleep(ctx, soon)
	timer := time.NewTimer(wait - soon)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-p.Wake.C():
		return true, nil
	case <-timer.C:
		return false, nil
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

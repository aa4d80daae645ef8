package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/bus/bustest"
	"matchmaker.dev/services/test/chaos/checker"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/workload"
)

// eventsTime is how long the event logs may take to become complete.
const eventsTime = 3 * time.Minute

// errEnd ends the reading of a log.
var errEnd = errors.New("the log is complete")

// rest waits until no claim, proposal or unused server is left, and writes the event logs to the journal.
func rest(
	ctx context.Context, s *system, crowds []*workload.Crowd, journal *history.Journal, patience time.Duration,
) error {
	b, err := bus.Connect(ctx, bus.Options{Server: bus.Server{URL: s.nats}, Name: "chronicle",
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { _ = b.Close(context.WithoutCancel(ctx)) }()
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		events, err := readEvents(ctx, b, crowds)
		h := journal.SoFar()
		h.Events = events
		if err == nil && checker.Check(h).Open > 0 && pause(waiting, time.Second) {
			continue
		}
		for _, e := range events {
			journal.Event(e)
		}
		return err
	}
}

// readEvents reads the event logs of all projects up to their ends. The end is a ticket that each crowd creates and
// deletes last. With an error it returns what it has read.
func readEvents(ctx context.Context, b *bus.Bus, crowds []*workload.Crowd) (all []history.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, eventsTime)
	defer cancel()
	for _, c := range crowds {
		end, err := c.CreateAndDelete(ctx)
		if err != nil {
			return all, err
		}
		log, err := read(ctx, b, c.Project, end)
		all = append(all, log...)
		if err != nil {
			return all, fmt.Errorf("the event log of %s: %w", c.Project, err)
		}
	}
	return all, nil
}

// read reads a project's log up to the deletion of a ticket. It begins again when it fails, since NATS may still
// recover.
func read(ctx context.Context, b *bus.Bus, project, end string) (all []history.Event, err error) {
	for {
		all = nil
		err = bustest.FollowEvents(ctx, b, project, func(e *pb.Events) error {
			for _, one := range e.GetEvents() {
				all = append(all, eventOf(project, one))
				if one.GetKind() == pb.Event_KIND_CANCELLED && slices.Contains(one.GetTickets(), end) {
					return errEnd
				}
			}
			return nil
		})
		if errors.Is(err, errEnd) {
			return all, nil
		}
		if !pause(ctx, time.Second) {
			return all, fmt.Errorf("it is not complete: %w", errors.Join(err, context.Cause(ctx)))
		}
	}
}

func eventOf(project string, e *pb.Event) history.Event {
	return history.Event{
		Project: project, Position: e.GetPosition(), Time: e.GetTime(),
		Kind:    history.Kind(strings.ToLower(strings.TrimPrefix(e.GetKind().String(), "KIND_"))),
		Tickets: e.GetTickets(), Match: e.GetMatch(), Config: e.GetConfig(), Revision: e.GetRevision(),
		Epoch: e.GetEpoch(), Reason: e.GetReason(), Error: e.GetError(), Backfill: e.GetBackfill(), Place: e.GetPlace(),
		Acceptance: e.GetAcceptance(), Player: int64(e.GetPlayer()), Upload: e.GetUpload(),
	}
}

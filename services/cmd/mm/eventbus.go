package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/account"
)

// errCaughtUp ends the reading of events after the last one.
var errCaughtUp = errors.New("no more events")

// readBus prints events from the message bus.
func (c eventLog) readBus(ctx context.Context, followCtx untimed, s *session) error {
	b, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = b.Close(context.WithoutCancel(ctx)) }()
	if c.Follow {
		ctx = followCtx
	} else if found, err := b.HasEvents(ctx, s.Project, s.now().Add(-c.Since)); err != nil || !found {
		return err // FollowEvents would wait for the first event
	}
	err = b.FollowEvents(ctx, s.Project, s.now().Add(-c.Since), func(e *pb.Events, pending uint64) error {
		for _, one := range e.GetEvents() {
			if !c.selects(one) {
				continue
			}
			if err := s.printEvent(newEvent(one)); err != nil {
				return err
			}
		}
		if pending == 0 && !c.Follow {
			return errCaughtUp
		}
		return nil
	})
	if errors.Is(err, errCaughtUp) {
		return nil
	}
	return err
}

func (c eventLog) connect(ctx context.Context) (*bus.Bus, error) {
	b, err := bus.Connect(ctx, bus.Options{
		Server: bus.Server{URL: c.NATS, Credentials: c.Credentials}, Name: "mm", Service: account.Events,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := b.Ping(ctx); err != nil {
		_ = b.Close(ctx)
		return nil, messageError{cause: err, message: "no message bus answers at the address that --nats gives"}
	}
	return b, nil
}

// selects reports whether the flags select an event. A gap is printed always.
func (c eventLog) selects(e *pb.Event) bool {
	return e.GetKind() == pb.Event_KIND_GAP ||
		(c.Ticket == "" || slices.Contains(e.GetTickets(), c.Ticket)) && (c.Match == "" || e.GetMatch() == c.Match) &&
			(c.Config == "" || e.GetConfig() == c.Config) && (len(c.Kind) == 0 || slices.Contains(c.Kind, kindOf(e)))
}

func kindOf(e *pb.Event) string {
	return strings.ToLower(strings.TrimPrefix(e.GetKind().String(), "KIND_"))
}

// newEvent is an event as the API has it.
func newEvent(e *pb.Event) client.Event {
	one := client.Event{
		Time: time.UnixMilli(e.GetTime()).UTC(), Kind: kindOf(e),
		Reason: e.GetReason(), Error: e.GetError(), Detail: e.GetDetail(),
		Match: e.GetMatch(), Config: e.GetConfig(), Revision: e.GetRevision(),
		Backfill: e.GetBackfill(), Tickets: e.GetTickets(), Position: e.GetPosition(),
		Player: int(e.GetPlayer()), Queue: e.GetQueue(), Acceptance: e.GetAcceptance(),
		Function: e.GetFunction(), Upload: e.GetUpload(), Players: int(e.GetPlayers()),
		Region: e.GetRegion(), By: e.GetBy(),
	}
	if e.GetFunction() != "" && e.GetKind() != pb.Event_KIND_FUNCTION {
		score := e.GetScore()
		one.Score = &score
	}
	for _, t := range e.GetTeams() {
		one.Teams = append(one.Teams, client.EventTeam{Name: t.GetName(), Tickets: int(t.GetTickets())})
	}
	return one
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/account"
	"matchmaker.dev/services/internal/bus"
)

type eventCommands struct {
	Log eventLog `cmd:"" help:"Print what happened to tickets and matches."`
}

type eventLog struct {
	Ticket      string        `help:"Only what happened to this ticket."`
	Match       string        `help:"Only what happened to this match."`
	Since       time.Duration `default:"30m" help:"How far back."`
	Follow      bool          `short:"f" help:"Continue with new events, until Ctrl-C."`
	NATS        string        `name:"nats" env:"MM_NATS" placeholder:"URL" help:"URL of the message bus; default: that of the development service in --data."`
	Credentials string        `name:"nats-credentials" env:"MM_NATS_CREDENTIALS" placeholder:"FILE" help:"NATS credentials file."`
}

func (eventLog) Help() string {
	return `Events are not part of the HTTP API. mm reads them from the message bus, and needs permission to read there.
With --output json each event is an object on a line of its own.

Examples:

    mm event log --since 5m
    mm event log --ticket 0199e6a2-5b2c-7d63-a6f9-1f2b7c6f1f10 --follow
    mm event log --follow --since 1s --output json | my-pipeline`
}

// Validate is called by the parser.
func (c eventLog) Validate() error {
	if c.Since <= 0 {
		return usageError("--since must be more than 0, such as 10m")
	}
	return nil
}

// errCaughtUp ends the reading of events after the last one.
var errCaughtUp = errors.New("no more events")

// Run prints events.
func (c eventLog) Run(ctx context.Context, followCtx untimed, s *session) error {
	b, err := c.connect(ctx, s)
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
		for _, event := range e.GetEvents() {
			if err := c.print(s, event); err != nil {
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

func (c eventLog) connect(ctx context.Context, s *session) (*bus.Bus, error) {
	url := c.NATS
	if url == "" {
		text, err := os.ReadFile(filepath.Join(s.Data, bus.URLFile))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s does not name a message bus: "+
				"start \"matchmaker dev\", or give its folder with --data or the address of NATS with --nats", s.Data)
		}
		if err != nil {
			return nil, err
		}
		url = strings.TrimSpace(string(text))
	}
	b, err := bus.Connect(ctx, bus.Options{
		Server: bus.Server{URL: url, Credentials: c.Credentials}, Name: "mm", Service: account.Events,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := b.Ping(ctx); err != nil {
		_ = b.Close(ctx)
		return nil, messageError{cause: err,
			message: "no message bus answers: start \"matchmaker dev\", or give the address of NATS with --nats"}
	}
	return b, nil
}

// print prints an event that --ticket and --match select, and every gap.
func (c eventLog) print(s *session, e *pb.Event) error {
	selected := (c.Ticket == "" || slices.Contains(e.GetTickets(), c.Ticket)) && (c.Match == "" || e.GetMatch() == c.Match)
	if !selected && e.GetKind() != pb.Event_KIND_GAP {
		return nil
	}
	h := eventRecord{
		Time:   time.UnixMilli(e.GetTime()).UTC(),
		Kind:   strings.ToLower(strings.TrimPrefix(e.GetKind().String(), "KIND_")),
		Reason: e.GetReason(), Error: e.GetError(), Detail: e.GetDetail(),
		Match: e.GetMatch(), Config: e.GetConfig(), Revision: e.GetRevision(),
		Backfill: e.GetBackfill(), Tickets: e.GetTickets(), Position: e.GetPosition(),
	}
	if s.Output == "json" {
		return s.printJSON(h, "")
	}
	_, err := fmt.Fprintln(s.out, oneLine(h.String()))
	return err
}

// eventRecord is an event as mm prints it.
type eventRecord struct {
	Time     time.Time `json:"time"`
	Kind     string    `json:"kind"`
	Reason   string    `json:"reason,omitempty"`
	Error    string    `json:"error,omitempty"`
	Detail   string    `json:"detail,omitempty"`
	Match    string    `json:"match,omitempty"`
	Config   string    `json:"config,omitempty"`
	Revision int64     `json:"revision,omitempty"`
	Backfill string    `json:"backfill,omitempty"`
	Tickets  []string  `json:"tickets,omitempty"`
	Position uint64    `json:"position"`
}

// String is the event on one line.
func (h eventRecord) String() string {
	line := fmt.Sprintf("%s  %-10s", h.Time.Format("2006-01-02 15:04:05.000"), h.Kind)
	for _, part := range []struct{ name, value string }{
		{"reason", h.Reason}, {"error", h.Error}, {"detail", h.Detail}, {"match", h.Match},
		{"config", h.Config}, {"backfill", h.Backfill}, {"tickets", strings.Join(h.Tickets, ",")},
	} {
		if part.value != "" {
			line += " " + part.name + "=" + part.value
		}
	}
	return line
}

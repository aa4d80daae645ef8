package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type eventCommands struct {
	Log eventLog `cmd:"" help:"Print what happened to tickets and matches."`
}

type eventLog struct {
	Ticket   string        `completion-predictor:"ticket" help:"Only what happened to this ticket."`
	Player   string        `completion-predictor:"player" help:"Only what happened to the tickets of this player, in a project that lists tickets."`
	Match    string        `completion-predictor:"match" help:"Only what happened to this match."`
	Config   string        `completion-predictor:"config" help:"Only what happened to matches of this config."`
	Backfill string        `completion-predictor:"backfill" help:"Only what happened to matches that go to the game of this backfill ticket, and that one was made with it."`
	Kind     []string      `completion-predictor:"kind" help:"Only events of these kinds, such as failed; may be repeated."`
	Since    time.Duration `default:"30m" help:"How far back." bounds:">0"`
	Follow   bool          `short:"f" help:"Continue with new events, until Ctrl-C."`
}

// Run prints events.
func (c eventLog) Run(ctx context.Context, followCtx untimed, s *session) error {
	api, err := s.connect(asDeveloper(), reconnecting)
	if err != nil {
		return err
	}
	q := client.EventQuery{Ticket: c.Ticket, Player: c.Player, Match: c.Match, Config: c.Config,
		Backfill: c.Backfill, Kinds: c.Kind, Since: s.now().Add(-c.Since), Limit: 1000}
	if c.Follow {
		err := api.FollowEvents(followCtx, q, s.printEvent)
		if errors.Is(err, context.Canceled) && followCtx.Err() != nil {
			return nil //nolint:nilerr // Ctrl-C is how following ends
		}
		return err
	}
	found := false
	for more := true; more; {
		page, err := api.GetEvents(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if err := s.printEvent(e); err != nil {
				return err
			}
		}
		found = found || len(page.Events) > 0
		q.After, more = page.Next, page.More
	}
	if !found {
		s.note("project %s has no such event since %s", s.Project, formatTime(q.Since))
		s.noteIfUnknown(ctx, api)
	}
	return nil
}

// printEvent prints an event on a line.
func (s *session) printEvent(e client.Event) error {
	if s.structured() {
		return s.printNext(e)
	}
	line := fmt.Sprintf("%s  %-10s", e.Time.UTC().Format("2006-01-02 15:04:05.000"), e.Kind)
	for _, part := range []struct{ name, value string }{
		{"reason", e.Reason}, {"error", e.Error}, {"detail", e.Detail}, {"by", e.By}, {"match", e.Match},
		{"config", e.Config}, {"function", e.Function}, {"upload", formatUpload(e.Upload)},
		{"score", bound(e.Score)}, {"queue", e.Queue}, {"region", e.Region}, {"backfill", e.Backfill},
		{"tickets", strings.Join(e.Tickets, ",")},
	} {
		if part.value != "" {
			line += " " + part.name + "=" + part.value
		}
	}
	for _, m := range measuresOf(e.Measures, e.Attributes) {
		line += fmt.Sprintf(" %q=%s", m.name, format.Number(m.value))
	}
	_, err := fmt.Fprintln(s.out, oneLine(line))
	return err
}

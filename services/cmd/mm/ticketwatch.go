package main

import (
	"context"
	"fmt"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type ticketWatch struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket."`
	Player string `completion-predictor:"player" help:"Read as this player; default: as a game service."`
}

// Run prints the events of the ticket.
func (c ticketWatch) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asReader(c.Player), reconnecting)
	if err != nil {
		return err
	}
	var printing error
	assigned, err := api.Follow(ctx, c.ID, func(e client.TicketEvent) {
		if printing == nil {
			printing = s.showEvent(e)
		}
	})
	switch {
	case printing != nil:
		return printing
	case err != nil:
		return err
	case assigned.Error != "":
		return fmt.Errorf("ticket %s got no match: %s", c.ID, assigned.Error)
	}
	return nil
}

// showEvent prints an event of a ticket.
func (s *session) showEvent(e client.TicketEvent) error {
	if s.structured() {
		return s.printNext(struct {
			Event string `json:"event"`
			client.TicketEvent
		}{e.Kind, e})
	}
	words := []string{e.Kind}
	for _, queue := range e.Queues {
		words = append(words, "queue "+queue)
	}
	for _, queue := range e.UnservedQueues {
		words = append(words, "no config serves "+queue)
	}
	if e.Estimate != nil {
		words = append(words, expected(e.Estimate))
	}
	if a := e.Acceptance; a != nil {
		words = append(words, fmt.Sprintf("match %s  %d of %s accepted", a.Match, a.Accepted,
			format.Plural(a.Players, "player")))
	}
	if e.Reason != "" {
		words = append(words, e.Reason)
	}
	if a := e.Assignment; a != nil {
		words = append(words, a.Connection, a.Error)
	}
	_, err := fmt.Fprintln(s.out, oneLine(strings.TrimSpace(strings.Join(words, "  "))))
	return err
}

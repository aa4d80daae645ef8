package main

import (
	"context"
	"errors"

	"github.com/alecthomas/kong"

	"matchmaker.dev/pkg/client"
)

// ticketAnswer is accept and decline.
type ticketAnswer struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket."`
	Player string `completion-predictor:"player" help:"The player that answers; default: all players of the ticket, or the player of --token."`
	Match  string `completion-predictor:"match" help:"The match; default: the one that asks now."`
}

// Run answers the match.
func (c ticketAnswer) Run(ctx context.Context, line *kong.Context, s *session) error {
	api, err := s.connect(asReader(c.Player))
	if err != nil {
		return err
	}
	if c.Match == "" {
		t, err := api.GetTicket(ctx, c.ID)
		if err != nil {
			return err
		}
		if t.Acceptance == nil {
			return errors.New("ticket " + c.ID + ": no match asks its players now")
		}
		c.Match = t.Acceptance.Match
	}
	said, what := client.MatchAnswer{Ticket: c.ID, Match: c.Match, Player: c.Player}, "declined"
	if line.Selected().Name == "accept" {
		said.Accept, what = true, "accepted"
	}
	if err := api.AnswerMatch(ctx, said); err != nil {
		return err
	}
	return s.showID(what, what, c.Match)
}

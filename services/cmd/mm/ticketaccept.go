package main

import (
	"context"
	"errors"

	"matchmaker.dev/pkg/client"
)

// answerFlags name the players that answer a match.
type answerFlags struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket."`
	Player string `completion-predictor:"player" help:"The player that answers; default: all players of the ticket, or the player of --token."`
	Match  string `completion-predictor:"match" help:"The match; default: the one that asks now."`
}

type ticketAccept struct{ answerFlags }

func (ticketAccept) Help() string {
	return `The match goes on when all players of all of its tickets have accepted.

Example: mm ticket accept TICKET --player player-1`
}

// Run accepts the match.
func (c ticketAccept) Run(ctx context.Context, s *session) error { return c.answer(ctx, s, true) }

type ticketDecline struct{ answerFlags }

func (ticketDecline) Help() string {
	return `The ticket ends. The other tickets of the match wait again.

Example: mm ticket decline TICKET --player player-1`
}

// Run declines the match.
func (c ticketDecline) Run(ctx context.Context, s *session) error { return c.answer(ctx, s, false) }

func (c answerFlags) answer(ctx context.Context, s *session, accept bool) error {
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
	said := client.MatchAnswer{Ticket: c.ID, Match: c.Match, Accept: accept, Player: c.Player}
	if err := api.AnswerMatch(ctx, said); err != nil {
		return err
	}
	what := "declined"
	if accept {
		what = "accepted"
	}
	return s.showID(what, what, c.Match)
}

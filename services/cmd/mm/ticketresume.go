package main

import (
	"context"
	"errors"

	"matchmaker.dev/pkg/client"
)

type ticketResume struct{ partyPlayer }

// Run waits for the match of the ticket that the player has.
func (c ticketResume) Run(ctx context.Context, s *session, api playerAPI) error {
	player, err := c.self(s)
	if err != nil {
		return err
	}
	t, err := api.Latest(ctx, player)
	if errors.Is(err, client.ErrNoTicket) {
		return messageError{cause: err, message: "player " + player + " has no ticket that waits or has a match, " +
			`or the project lists none: ask for one with "mm ticket create"`}
	}
	if err != nil {
		return err
	}
	s.note("ticket %s is the player's", t.ID)
	return s.wait(ctx, api.Client, t.ID)
}

// adviseResume adds to a refusal, because the player has a ticket, how to go on with that.
func (s *session) adviseResume(err error) error {
	return s.advise(err, client.CodePlayerHasTicket, `"mm ticket resume" waits for its match`)
}

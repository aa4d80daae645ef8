package client

import (
	"context"
	"errors"
)

// ErrNoTicket says that a player has no ticket to go on with.
var ErrNoTicket = errors.New("client: the player has no ticket to go on with")

// Resume goes on with a ticket that the player has, whose id the caller does not know: the game crashed and started
// again, or [Client.CreateTicket] failed without an answer. It takes the newest ticket that waits or has a match, from
// the list of [Client.Tickets], and waits for it as [Client.Wait]. A ticket whose result is an error is not gone on
// with.
//
// found, if not nil, is told the ticket's id as soon as it is known.
//
// The match may be over by now, since its result can be read for some time: when the game server does not know the
// player, create a ticket. The error is [ErrNoTicket] when there is no such ticket, or the project's settings list no
// tickets. Then create one:
//
//	ticket, err := c.Resume(ctx, player, learn)
//	if errors.Is(err, client.ErrNoTicket) {
//		ticket, err = c.CreateAndWait(ctx, request, learn)
//	}
func (c *Client) Resume(ctx context.Context, player string, found func(id string)) (*Ticket, error) {
	t, err := c.Latest(ctx, player)
	if err != nil {
		return nil, err
	}
	if found != nil {
		found(t.ID)
	}
	return c.Wait(ctx, t.ID)
}

// Latest is the ticket that [Client.Resume] goes on with. The error is [ErrNoTicket] when there is none.
func (c *Client) Latest(ctx context.Context, player string) (*Ticket, error) {
	tickets, err := c.Tickets(ctx, player)
	if CodeOf(err) == CodeTicketsNotListed {
		return nil, ErrNoTicket
	}
	if err != nil {
		return nil, err
	}
	for _, t := range tickets {
		if t.Assignment == nil || t.Assignment.Error == "" {
			return t, nil
		}
	}
	return nil, ErrNoTicket
}

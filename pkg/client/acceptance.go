package client

import (
	"context"
	"net/http"
	"net/url"
)

// MatchAnswer is what players of a ticket say to the match that asks them.
type MatchAnswer struct {
	// Ticket is their ticket, and Match the match of its [Acceptance].
	Ticket string `json:"-"`
	Match  string `json:"match"`
	Accept bool   `json:"accept"`
	// Player is the player that answers. It may be empty with a player's token.
	Player string `json:"-"`
	// Players are the players for whom a game service answers when Player is empty. None means all of the ticket.
	Players []string `json:"players,omitempty"`
}

// AnswerMatch accepts or declines a match. The first decline ends it: the ticket that declined ends, the others wait
// again. The same answer may be given again. The status is 404 when there is no such ticket, and 409 when the match
// does not ask its players any more.
func (c *Client) AnswerMatch(ctx context.Context, a MatchAnswer) error {
	return c.call(ctx, plainCall{method: http.MethodPost, path: "v1/tickets/acceptance",
		query: url.Values{"id": {a.Ticket}}, player: a.Player, body: a, repeatable: true}, nil)
}

package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// ErasedPlayer is what became of what the service stored of a player.
type ErasedPlayer struct {
	Player string `json:"player"`
	// Tickets are those that ended, or that the player was taken out of. Party tells whether the player left one.
	Tickets int  `json:"tickets"`
	Party   bool `json:"party"`
	// Remains is what is still stored.
	Remains []PlayerRemains `json:"remains"`
}

// PlayerRemains names a player and is stored on.
type PlayerRemains struct {
	// Kind is acceptance, feed, game, kicked, pause or rate.
	Kind string `json:"kind"`
	// ID is that of the match, the party or the backfill ticket.
	ID string `json:"id,omitempty"`
	// Seconds is until it goes, at most; 0 when that depends on others.
	Seconds int `json:"seconds,omitempty"`
}

// ExportPlayer reads what the service stores of a player of the project, as the JSON that the API describes. The token
// must be an Owner's, or a service's with the scope matchmaking.
func (c *Client) ExportPlayer(ctx context.Context, player string) (json.RawMessage, error) {
	var document json.RawMessage
	_, err := c.do(ctx, &request{method: http.MethodGet, path: playerPath(player), repeatable: true}, &document)
	return document, err
}

// ErasePlayer removes what the service stores of a player of the project. It may be repeated. The token is as for
// ExportPlayer.
func (c *Client) ErasePlayer(ctx context.Context, player string) (*ErasedPlayer, error) {
	erased := new(ErasedPlayer)
	_, err := c.do(ctx, &request{method: http.MethodDelete, path: playerPath(player), repeatable: true}, erased)
	if err != nil {
		return nil, err
	}
	return erased, nil
}

func playerPath(player string) string { return "v1/players/" + url.PathEscape(player) }

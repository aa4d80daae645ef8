package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
)

// ExportPlayer reads what the service stores of a player of the project, as the JSON that the API describes. The token
// must be an Owner's, or a service's with the scope matchmaking.
func (c *Client) ExportPlayer(ctx context.Context, player string) (json.RawMessage, error) {
	var document json.RawMessage
	_, err := c.do(ctx, &request{method: http.MethodGet, path: playerPath(player), repeatable: true}, &document)
	return document, err
}

func playerPath(player string) string { return "v1/players/" + url.PathEscape(player) }

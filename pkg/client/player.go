package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// ExportPlayer reads what the service stores of a player of the project, as the JSON that the API describes. The token
// must be an Owner's, or a service's with the scope matchmaking.
func (c *Client) ExportPlayer(ctx context.Context, player string) (json.RawMessage, error) {
	document, err := ask[json.RawMessage](ctx, c, plainCall{method: http.MethodGet, path: "v1/players/{player}",
		segments: []string{player}, repeatable: true})
	if err != nil {
		return nil, err
	}
	return *document, nil
}

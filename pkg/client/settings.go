package client

import (
	"context"
	"encoding/json"
	"net/http"
)

// StoredSettings are settings as the service keeps them.
type StoredSettings struct {
	ProjectSettings
	// JSON is the settings as the service wrote them.
	JSON json.RawMessage
	// ETag names this state of the settings, for [Client.PutSettings].
	ETag string
}

const settingsPath = "v1/settings"

// GetSettings reads the settings of the project. A project that never set any has empty ones.
func (c *Client) GetSettings(ctx context.Context) (*StoredSettings, error) {
	stored := new(StoredSettings)
	etag, err := c.stored(ctx, &request{method: http.MethodGet, path: settingsPath, repeatable: true}, &stored.JSON,
		&stored.ProjectSettings)
	if err != nil {
		return nil, err
	}
	stored.ETag = etag
	return stored, nil
}

// PutSettings replaces all settings of the project, which apply at once, and returns their ETag. When etag is not empty
// they are replaced only if they are still in that state, and the status is 409 if not. Settings with faults have
// status 400 and [Error.Validation]. The token must be an Owner's.
func (c *Client) PutSettings(ctx context.Context, settings ProjectSettings, etag string) (newETag string, err error) {
	body, err := encode(settings)
	if err != nil {
		return "", err
	}
	return c.PutSettingsJSON(ctx, json.RawMessage(body), etag)
}

// PutSettingsJSON is PutSettings for settings that are JSON already, as in a file: the service sees every member of
// them, those it will refuse as well.
func (c *Client) PutSettingsJSON(
	ctx context.Context, settings json.RawMessage, etag string,
) (newETag string, err error) {
	r := &request{method: http.MethodPut, path: settingsPath, body: document(settings), repeatable: true}
	r.ifMatch(etag)
	header, err := c.do(ctx, r, nil)
	if err != nil {
		return "", err
	}
	return header.Get("ETag"), nil
}

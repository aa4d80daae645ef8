package client

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
)

// Masked stands for a key that the service does not tell again. Sent back it leaves the key as it is.
const Masked = "********"

// String leaves the keys out, so that a config can be printed.
func (h Hosting) String() string { return fmt.Sprintf("{fleet %q, profile %q}", h.FleetID, h.Profile) }

// GoString is String.
func (h Hosting) GoString() string { return h.String() }

// LogValue leaves the keys out of logs.
func (h Hosting) LogValue() slog.Value {
	return slog.GroupValue(slog.String("fleet", h.FleetID), slog.String("profile", h.Profile))
}

// StoredConfig is a config as the service keeps it.
type StoredConfig struct {
	Config
	// JSON is the config as the service wrote it.
	JSON json.RawMessage
	// ETag names this state of the config, for [Client.PutConfig].
	ETag string
}

// CreateConfig stores a config under an identifier that the service makes, and returns that. A config with faults has
// status 400 and [Error.Validation].
func (c *Client) CreateConfig(ctx context.Context, config Config) (id string, err error) {
	body, err := encode(config)
	if err != nil {
		return "", err
	}
	return c.CreateConfigJSON(ctx, json.RawMessage(body))
}

// CreateConfigJSON is CreateConfig for a config that is JSON already, as in a file: the service sees every member of
// it, those it will refuse as well.
func (c *Client) CreateConfigJSON(ctx context.Context, config json.RawMessage) (id string, err error) {
	saved, err := c.create(ctx, config)
	return saved.ID, err
}

func (c *Client) create(ctx context.Context, config json.RawMessage) (saved SavedConfig, err error) {
	var created struct {
		ID string `json:"id"`
	}
	header, err := c.do(ctx, &request{method: http.MethodPost, path: "v1/configs", body: document(config)}, &created)
	if err != nil {
		return saved, err
	}
	return SavedConfig{ID: created.ID, Warnings: warningsOf(header)}, nil
}

// GetConfig reads a config. Its status is 404 when there is none of that id.
func (c *Client) GetConfig(ctx context.Context, id string) (*StoredConfig, error) {
	r, err := configRequest(http.MethodGet, id)
	if err != nil {
		return nil, err
	}
	stored := new(StoredConfig)
	header, err := c.do(ctx, r, &stored.JSON)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(stored.JSON, &stored.Config); err != nil {
		return nil, fmt.Errorf("client: config %s is not what the API says: %w", id, err)
	}
	stored.ETag = header.Get("ETag")
	return stored, nil
}

// PutConfig creates or replaces a config, which is in use at once, and returns its new ETag. When etag is not empty the
// config is replaced only if it is still in that state, and the status is 409 if not. A config with faults has status
// 400 and [Error.Validation].
func (c *Client) PutConfig(ctx context.Context, id string, config Config, etag string) (newETag string, err error) {
	body, err := encode(config)
	if err != nil {
		return "", err
	}
	return c.PutConfigJSON(ctx, id, json.RawMessage(body), etag)
}

// PutConfigJSON is PutConfig for a config that is JSON already, as in a file: the service sees every member of it,
// those it will refuse as well.
func (c *Client) PutConfigJSON(ctx context.Context, id string, config json.RawMessage,
	etag string) (newETag string, err error) {
	saved, err := c.put(ctx, id, config, etag)
	return saved.ETag, err
}

func (c *Client) put(
	ctx context.Context, id string, config json.RawMessage, etag string,
) (saved SavedConfig, err error) {
	r, err := configRequest(http.MethodPut, id)
	if err != nil {
		return saved, err
	}
	r.body = document(config)
	if etag != "" {
		r.header = http.Header{"If-Match": {etag}}
		// Once done it cannot be repeated: the ETag is not that one any more.
		r.repeatable = false
	}
	header, err := c.do(ctx, r, nil)
	if err != nil {
		return saved, err
	}
	return SavedConfig{ID: id, ETag: header.Get("ETag"), Warnings: warningsOf(header)}, nil
}

// configRequest is a request about one config, of a method that may be repeated.
func configRequest(method, id string) (*request, error) {
	segment, err := segment("config id", id)
	if err != nil {
		return nil, err
	}
	return &request{method: method, path: "v1/configs/" + segment, repeatable: true}, nil
}

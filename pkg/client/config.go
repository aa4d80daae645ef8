package client

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
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
	saved, err := c.create(ctx, body)
	return saved.ID, err
}

func (c *Client) create(ctx context.Context, config document) (saved SavedConfig, err error) {
	var created struct {
		ID string `json:"id"`
	}
	header, err := c.do(ctx, &request{method: http.MethodPost, path: "v1/configs", body: config}, &created)
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
	if stored.ETag, err = c.stored(ctx, r, &stored.JSON, &stored.Config); err != nil {
		return nil, err
	}
	return stored, nil
}

// stored reads a document that a studio wrote: its text, what that says, and its ETag.
func (c *Client) stored(ctx context.Context, r *request, text *json.RawMessage, into any) (etag string, err error) {
	header, err := c.do(ctx, r, text)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(*text, into); err != nil {
		return "", fmt.Errorf("client: GET /%s: it is not what the API says: %w", r.path, err)
	}
	return header.Get("ETag"), nil
}

// PutConfig creates or replaces a config, which is in use at once, and returns its new ETag. When etag is not empty the
// config is replaced only if it is still in that state, and the status is 409 if not. A config with faults has status
// 400 and [Error.Validation].
func (c *Client) PutConfig(ctx context.Context, id string, config Config, etag string) (newETag string, err error) {
	body, err := encode(config)
	if err != nil {
		return "", err
	}
	saved, err := c.put(ctx, id, body, etag)
	return saved.ETag, err
}

func (c *Client) put(ctx context.Context, id string, config document, etag string) (saved SavedConfig, err error) {
	r, err := configRequest(http.MethodPut, id)
	if err != nil {
		return saved, err
	}
	r.body = config
	r.ifMatch(etag)
	return c.save(ctx, r, id)
}

// save sends a request that stores a config.
func (c *Client) save(ctx context.Context, r *request, id string) (saved SavedConfig, err error) {
	header, err := c.do(ctx, r, nil)
	if err != nil {
		return saved, err
	}
	return SavedConfig{ID: id, ETag: header.Get("ETag"), Warnings: warningsOf(header)}, nil
}

// ifMatch makes a change that is made only while the thing has an ETag, unless that is empty. Once done it cannot be
// repeated: the ETag is not that one any more.
func (r *request) ifMatch(etag string) {
	if etag != "" {
		r.header, r.repeatable = http.Header{"If-Match": {etag}}, false
	}
}

// configRequest is a request about one config, of a method that may be repeated.
func configRequest(method, id string) (*request, error) {
	segment, err := segment("config id", id)
	if err != nil {
		return nil, err
	}
	return &request{method: method, path: "v1/configs/" + segment, repeatable: true}, nil
}

// SavedConfig is a config that was stored.
type SavedConfig struct {
	ID string
	// ETag names its state, for [Client.PutConfig]; empty for one that was created under an identifier of the service.
	ETag string
	// Warnings say what may be a mistake: a function that is not uploaded, settings that could not be checked, an
	// attribute that no ticket has. There are 8 at most, and long ones are cut: see [Client.CheckConfig].
	Warnings []Validation
}

// SaveConfig is [Client.PutConfig], or [Client.CreateConfig] if id is empty, for a config that is JSON already, as in a
// file: the service sees every member of it, those it will refuse as well. It returns the warnings too.
func (c *Client) SaveConfig(ctx context.Context, id string, config json.RawMessage, etag string) (SavedConfig, error) {
	if id == "" {
		return c.create(ctx, document(config))
	}
	return c.put(ctx, id, document(config), etag)
}

// warningsOf reads the warnings in the header of an answer.
func warningsOf(header http.Header) (all []Validation) {
	for _, line := range header.Values("X-Config-Warning") {
		code, message, ok := strings.Cut(line, ": ")
		if !ok {
			code, message = "", line
		}
		all = append(all, Validation{ResultCode: code, Message: message})
	}
	return all
}

// CheckConfig asks what [Client.SaveConfig] would be answered, and stores nothing. A config that would be refused has
// the error of that call. A service that cannot check answers 404.
func (c *Client) CheckConfig(
	ctx context.Context, id string, config json.RawMessage, etag string,
) (CheckedConfig, error) {
	r := &request{method: http.MethodPost, path: "v1/configs/actions/check", body: document(config), repeatable: true}
	if id != "" {
		r.query = map[string][]string{"id": {id}}
	}
	if etag != "" {
		r.header = http.Header{"If-Match": {etag}}
	}
	var checked CheckedConfig
	_, err := c.do(ctx, r, &checked)
	return checked, err
}

// Absent is, for [Client.RollbackConfig], the state of a config that was deleted.
const Absent = "absent"

// RollbackConfig makes a config what it was after one of the changes of its history, with the hosting keys of that
// time, and brings back one that was deleted. When etag is not empty, the config must be in that state, or must not
// exist if it is [Absent], and the status is 409 if not. The status is 404 when that change is not kept.
func (c *Client) RollbackConfig(ctx context.Context, id, to, etag string) (saved SavedConfig, err error) {
	r, err := configRequest(http.MethodPost, id)
	if err != nil {
		return saved, err
	}
	r.path += "/actions/rollback"
	if r.ifMatch(etag); etag == Absent {
		r.header = http.Header{"If-None-Match": {"*"}}
	}
	if r.body, err = encode(map[string]string{"etag": to}); err != nil {
		return saved, err
	}
	return c.save(ctx, r, id)
}

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
	return header.Get("ETag"), err
}

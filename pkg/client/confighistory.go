package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// SavedConfig is a config that was stored.
type SavedConfig struct {
	ID string
	// ETag names its state, for [Client.PutConfig]; empty for one that was created under an identifier of the service.
	ETag string
	// Warnings say what may be a mistake: a function that is not uploaded, settings that could not be checked, an
	// attribute that no ticket has. There are 8 at most, and long ones are cut: see [Client.CheckConfig].
	Warnings []Validation
}

// SaveConfig is [Client.PutConfigJSON], or [Client.CreateConfigJSON] if id is empty, and returns the warnings too.
func (c *Client) SaveConfig(ctx context.Context, id string, config json.RawMessage, etag string) (SavedConfig, error) {
	if id == "" {
		return c.create(ctx, config)
	}
	return c.put(ctx, id, config, etag)
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

// CheckConfig asks what [Client.PutConfigJSON] would be answered, or [Client.CreateConfigJSON] if id is empty, and
// stores nothing. A config that would be refused has the error of that call. A service that cannot check answers 404.
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
	switch etag {
	case "":
	case Absent:
		r.header, r.repeatable = http.Header{"If-None-Match": {"*"}}, false
	default:
		r.header, r.repeatable = http.Header{"If-Match": {etag}}, false
	}
	if r.body, err = encode(map[string]string{"etag": to}); err != nil {
		return saved, err
	}
	header, err := c.do(ctx, r, nil)
	if err != nil {
		return saved, err
	}
	return SavedConfig{ID: id, ETag: header.Get("ETag"), Warnings: warningsOf(header)}, nil
}

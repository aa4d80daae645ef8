package client

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
)

// Config says how matches are made: which function runs, over which tickets, and where its matches are played.
type Config struct {
	Matchmaking Matchmaking `json:"matchmaking"`
	// Pools are the tickets to match, by names that the function knows. A ticket is in a pool when every filter of it
	// holds.
	Pools map[string][]PoolFilter `json:"pools,omitempty"`
	// Queue is that whose tickets are in the pools; empty for the tickets without queues.
	Queue string `json:"queue,omitempty"`
	// Acceptance asks the players of each match whether they accept it, before its server is asked for.
	Acceptance *AcceptanceRule `json:"acceptance,omitempty"`
	// Seats gives the players of its matches seat passes: see [Assignment].
	Seats bool `json:"seats,omitempty"`
	// Report tells more of how good its matches are: see [Client.ReportMatches].
	Report *ReportRule `json:"report,omitempty"`
	// Hosting is where game servers come from. Without it no server is asked for, and assignments are what the function
	// proposes.
	Hosting *Hosting `json:"hosting,omitempty"`
}

// ReportRule says what is told of the matches of a config beside what is told of all: how many players each ticket has,
// and how far attributes of tickets differ, up to 8 of them.
type ReportRule struct {
	Attributes []string `json:"attributes,omitempty"`
}

// AcceptanceRule says how players accept the matches of a config.
type AcceptanceRule struct {
	// Seconds is for how long they may, 1 to 120.
	Seconds int `json:"seconds"`
}

// Matchmaking names the function and its settings.
type Matchmaking struct {
	Name           string          `json:"name,omitempty"` // for people
	TargetFunction *FunctionTarget `json:"targetFunction,omitempty"`
	// Config is a JSON value that the function understands.
	Config json.RawMessage `json:"config,omitempty"`
}

// FunctionTarget names a function. The service ignores the version: use 1. Upload names one of its uploads, see
// [Client.GetFunctionVersions]; 0 leaves it to the function.
type FunctionTarget struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Upload  int64  `json:"upload,omitempty"`
}

// PoolFilter holds for tickets whose attribute is at least Min and less than Max, or equal to both when they are the
// same. A nil bound is no bound.
type PoolFilter struct {
	Attribute    string        `json:"attribute,omitempty"`
	Count        string        `json:"count,omitempty"` // "players": how many a ticket has, instead of an attribute
	Min          *float64      `json:"min,omitempty"`
	Max          *float64      `json:"max,omitempty"`
	Segmentation *Segmentation `json:"segmentation,omitempty"`
}

// Segmentation divides a filter into several that do not overlap.
type Segmentation struct {
	DistributionType    string `json:"DistributionType"`    // Normal or Uniform
	SegmentBehaviorType string `json:"SegmentBehaviorType"` // TargetPercentage, BucketSize or BucketCount
	Value               int    `json:"Value"`               // what the behaviour aims at
	// Stddev is the standard deviation of a Normal distribution; nil otherwise.
	Stddev *float64 `json:"Stddev,omitempty"`
}

// Hosting is what a server is asked for, and the keys to ask with.
type Hosting struct {
	Profile string `json:"Profile,omitempty"`
	Access  string `json:"Access,omitempty"`
	// Secret is [Masked] in what the service answers.
	Secret  string `json:"Secret,omitempty"`
	FleetID string `json:"FleetId,omitempty"`
	// OnAllocationError is what becomes of tickets whose match gets no server: Fail, which is the default, or Requeue,
	// which lets them wait again.
	OnAllocationError string `json:"OnAllocationError,omitempty"`
}

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

// ListedConfig is a config in the list of all of them.
type ListedConfig struct {
	ID string `json:"id"`
	// ETag names its state, for [Client.PutConfig].
	ETag string `json:"etag"`
	Name string `json:"name"`
	// Function is the name of its function, Queue the queue that it serves, empty for tickets without queues.
	Function string `json:"function"`
	Queue    string `json:"queue"`
	// Pools is how many pools it has. Without any, the function gets all tickets.
	Pools int `json:"pools"`
	// Hosted: its matches get servers.
	Hosted bool `json:"hosted"`
}

// ListConfigs lists the project's configs, by id.
func (c *Client) ListConfigs(ctx context.Context) ([]ListedConfig, error) {
	var list struct {
		Configs []ListedConfig `json:"configs"`
	}
	_, err := c.do(ctx, &request{method: http.MethodGet, path: "v1/configs", repeatable: true}, &list)
	return list.Configs, err
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

// DeleteConfig ends matchmaking by a config at once.
func (c *Client) DeleteConfig(ctx context.Context, id string) error {
	r, err := configRequest(http.MethodDelete, id)
	if err != nil {
		return err
	}
	r.removes = true
	_, err = c.do(ctx, r, nil)
	return err
}

// configRequest is a request about one config, of a method that may be repeated.
func configRequest(method, id string) (*request, error) {
	segment, err := segment("config id", id)
	if err != nil {
		return nil, err
	}
	return &request{method: method, path: "v1/configs/" + segment, repeatable: true}, nil
}

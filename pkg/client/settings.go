package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// ProjectSettings are what a project asks of the service besides its configs. What is absent has its default.
type ProjectSettings struct {
	// Tickets says how many tickets a player may have, and whether they are listed.
	Tickets *TicketRules `json:"tickets,omitempty"`
	// Acceptance says what becomes of players who missed a match.
	Acceptance *AcceptanceRules `json:"acceptance,omitempty"`
	// Attributes says of names of tickets' attributes who sets them; everybody sets those without a rule.
	Attributes map[string]AttributeRule `json:"attributes,omitempty"`
	// Properties says the same of names of tickets' properties, and "*" of all names that are not there.
	Properties map[string]PropertyRule `json:"properties,omitempty"`
	// Support says what developers with the role Support may see.
	Support *SupportRules `json:"support,omitempty"`
}

// SupportRules are what developers with the role Support may see besides what they see in every project.
type SupportRules struct {
	// Properties of tickets, in captures of runs.
	Properties bool `json:"properties"`
}

// TicketRules are rules for the tickets of each player.
type TicketRules struct {
	// PerPlayer bounds them; nil for any number.
	PerPlayer *PerPlayer `json:"perPlayer,omitempty"`
	// Listed: [Client.Tickets] lists them. With PerPlayer it does in any case.
	Listed bool `json:"listed,omitempty"`
	// EndsTold: a ticket that ends without a match has the reason as the Error of its Assignment, instead of status 404:
	// abandoned, unserved, unheard, declined, silent, deleted (by another of its players) or replaced.
	EndsTold bool `json:"endsTold,omitempty"`
	// RefuseUnserved: a ticket with a queue that no config serves is refused with status 400, and one ends, as unserved,
	// when no config serves any of its queues any more.
	RefuseUnserved bool `json:"refuseUnserved,omitempty"`
	// Silence ends tickets that nobody asks for any more; nil if they wait on.
	Silence *Silence `json:"silence,omitempty"`
}

// Silence ends, as unheard, a ticket that waits when nobody asked for it during Seconds, 20 to 300. Every GET, every
// request that is held, and every stream of events asks.
type Silence struct {
	Seconds int `json:"seconds"`
}

// PerPlayer bounds the tickets of a player.
type PerPlayer struct {
	// Limit is how many without a result a player may have, 1 to 16.
	Limit int `json:"limit"`
	// WhenReached is refuse, which is the default, or replace.
	WhenReached string `json:"whenReached,omitempty"`
}

// AcceptanceRules are rules for matches that ask their players.
type AcceptanceRules struct {
	// Pause is how long players pause who missed a match; nil if they do not.
	Pause *Pause `json:"pause,omitempty"`
}

// Pause is how long a player who declined a match, or did not answer it, gets no ticket: Seconds the first time,
// and twice as long each time, up to MaxSeconds.
type Pause struct {
	Seconds    int `json:"seconds"`
	MaxSeconds int `json:"maxSeconds"`
}

// AttributeRule says who sets an attribute.
type AttributeRule struct {
	// SetBy is client, service or claim.
	SetBy string `json:"setBy"`
	// Claim is the path of a claim in the player's token, where SetBy is claim: game.skill is skill in the object game.
	Claim string `json:"claim,omitempty"`
}

// PropertyRule says who sets a property.
type PropertyRule struct {
	// SetBy is client, service or claim; not claim for "*".
	SetBy string `json:"setBy"`
	// Claim is the path of a claim in the player's token, where SetBy is claim. The property is the claim's JSON.
	Claim string `json:"claim,omitempty"`
}

// StoredSettings are settings as the service keeps them.
type StoredSettings struct {
	ProjectSettings
	// JSON is the settings as the service wrote them.
	JSON json.RawMessage
	// ETag names this state of the settings, for [Client.PutSettings].
	ETag string
}

// SettingsChange is an element of the history of a project's settings.
type SettingsChange struct {
	ETag    string    `json:"etag"`
	Changed time.Time `json:"changed"`
	// By is the subject of the token that made the change.
	By string `json:"by"`
	// Settings are those after the change, as the service wrote them.
	Settings json.RawMessage `json:"settings"`
}

const settingsPath = "v1/settings"

// GetSettings reads the settings of the project. A project that never set any has empty ones.
func (c *Client) GetSettings(ctx context.Context) (*StoredSettings, error) {
	stored := new(StoredSettings)
	header, err := c.do(ctx, &request{method: http.MethodGet, path: settingsPath, repeatable: true}, &stored.JSON)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(stored.JSON, &stored.ProjectSettings); err != nil {
		return nil, fmt.Errorf("client: the settings are not what the API says: %w", err)
	}
	stored.ETag = header.Get("ETag")
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
	if etag != "" {
		r.header = http.Header{"If-Match": {etag}}
		// Once done it cannot be repeated: the ETag is not that one any more.
		r.repeatable = false
	}
	header, err := c.do(ctx, r, nil)
	if err != nil {
		return "", err
	}
	return header.Get("ETag"), nil
}

// SettingsHistory reads the latest settings of the project, the newest first: those that apply, and up to 31 before.
func (c *Client) SettingsHistory(ctx context.Context) ([]SettingsChange, error) {
	var history struct {
		Changes []SettingsChange `json:"changes"`
	}
	_, err := c.do(ctx, &request{method: http.MethodGet, path: settingsPath + "/history", repeatable: true}, &history)
	return history.Changes, err
}

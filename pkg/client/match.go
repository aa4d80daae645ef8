package client

import (
	"context"
	"net/http"
	"time"
)

// Match is what became of a match.
type Match struct {
	ID string `json:"id"`
	// State is asking (its players), claimed, allocating, proposed (to a running game), assigned, failed, or released (its
	// tickets wait again).
	State    string `json:"state"`
	Config   string `json:"config"`
	Revision int64  `json:"revision"` // of the config
	// Function made it. Upload says which upload of the function ran, from 1; 0 if that is not known.
	Function string   `json:"function,omitempty"`
	Upload   int64    `json:"upload,omitempty"`
	Score    *float64 `json:"score,omitempty"`
	// Created is when it was made, and Ended when it had its result; zero if it has none.
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended,omitzero"`
	Reason  string    `json:"reason,omitempty"`
	Error   string    `json:"error,omitempty"`
	Detail  string    `json:"detail,omitempty"`
	// Backfill is the backfill ticket that was made with it, or that its tickets were proposed to.
	Backfill string `json:"backfill,omitempty"`
	// Players is how many its tickets have, and Accepted how many of them accepted it, if it asked them.
	Players  int         `json:"players"`
	Accepted int         `json:"accepted,omitempty"`
	Teams    []MatchTeam `json:"teams"`
	// Server is where it is played, as far as that is known.
	Server *MatchServer `json:"server,omitempty"`
	// Queue is that of the config, and Region the one that the function asked for.
	Queue  string `json:"queue,omitempty"`
	Region string `json:"region,omitempty"`
	// Measures is what the function measured, and Attributes how far those differ that the config's report names.
	Measures   map[string]float64    `json:"measures,omitempty"`
	Attributes map[string]Difference `json:"attributes,omitempty"`
}

// MatchTeam is a team of a match. One without teams has a single one, without a name.
type MatchTeam struct {
	Name    string        `json:"name,omitempty"`
	Tickets []MatchTicket `json:"tickets"`
}

// MatchTicket is a ticket of a match.
type MatchTicket struct {
	ID string `json:"id"`
	// Waited is for how many seconds it had waited; nil if its id does not say.
	Waited *float64 `json:"waited,omitempty"`
	// Players are known as long as the ticket is there.
	Players []string `json:"players,omitempty"`
}

// MatchServer is the game server of a match. Connection is known as long as results can be read, the rest as long as
// the server renews its token.
type MatchServer struct {
	Connection string `json:"connection,omitempty"`
	Profile    string `json:"profile,omitempty"`
	Fleet      string `json:"fleet,omitempty"`
	Region     string `json:"region,omitempty"`
}

// GetMatch reads what became of a match. Its status is 404 when its events are not kept any more. The token must be a
// developer's; the role Support is enough.
func (c *Client) GetMatch(ctx context.Context, id string) (*Match, error) {
	segment, err := segment("match id", id)
	if err != nil {
		return nil, err
	}
	match := new(Match)
	_, err = c.do(ctx, &request{method: http.MethodGet, path: "v1/matches/" + segment, repeatable: true}, match)
	if err != nil {
		return nil, err
	}
	return match, nil
}

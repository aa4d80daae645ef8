package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

// BackfillRequest says that a running game has room.
type BackfillRequest struct {
	Connection string             `json:"Connection,omitempty"` // ip:port of the game server
	Attributes map[string]float64 `json:"attributes,omitempty"` // finite numbers, for pools
	Properties map[string][]byte  `json:"properties,omitempty"` // opaque bytes for the match function
	// Queue is that whose tickets may join; empty for the tickets without queues.
	Queue string `json:"queue,omitempty"`
	// Players are those in the game: none of them joins it again, and match functions see them. Nil says nothing, and an
	// empty list that nobody is there.
	Players []GamePlayer `json:"players,omitzero"`
}

// GamePlayer is a player in a running game.
type GamePlayer struct {
	ID   string `json:"id"`
	Team string `json:"team,omitempty"`
	Role string `json:"role,omitempty"`
	// Attributes are finite numbers.
	Attributes map[string]float64 `json:"attributes,omitempty"`
}

// BackfillTicket is a running game with room, as the service keeps it.
type BackfillTicket struct {
	ID      string `json:"Id"`
	Created int64  `json:"Created"` // Unix milliseconds, UTC
	// RecordVersion counts the changes of the ticket; the service keeps it.
	RecordVersion int64 `json:"RecordVersion"`
	// Connection is ip:port of the game server, empty while one is being found.
	Connection string             `json:"Connection"`
	Attributes map[string]float64 `json:"attributes,omitempty"`
	Properties map[string][]byte  `json:"properties,omitempty"`
	// Queue is that whose tickets may join; empty for the tickets without queues. UpdateBackfill does not change it to
	// none.
	Queue string `json:"queue,omitempty"`
	// Players are those in the game, and those who joined since its server named them. UpdateBackfill replaces them, or
	// leaves them as they are when they are nil.
	Players []GamePlayer `json:"players,omitzero"`
	// Assigned are tickets that have joined the game, in the answer to an approval: those that it assigned, and again
	// those of the last seconds before it, so that the loss of an answer loses nobody.
	Assigned []Ticket `json:"assignedTickets,omitempty"`
}

const backfillPath = "v2/backfill"

// CreateBackfill begins backfill for a game and returns the id of its ticket.
func (c *Client) CreateBackfill(ctx context.Context, b BackfillRequest) (id string, err error) {
	body, err := encode(b)
	if err != nil {
		return "", err
	}
	var created struct {
		ID backfillID `json:"Id"`
	}
	_, err = c.do(ctx, &request{method: http.MethodPost, path: backfillPath, body: body}, &created)
	return string(created.ID), err
}

// ApproveBackfill lets the tickets that were proposed for the game be assigned to it, and returns the backfill ticket,
// with those that have joined. Call it about once a second, and not more often: proposals that are not approved in time
// go elsewhere. Its status is 404 when there is no such backfill ticket.
func (c *Client) ApproveBackfill(ctx context.Context, id string) (*BackfillTicket, error) {
	r, err := backfillRequest(http.MethodPost, id, "/approvals")
	if err != nil {
		return nil, err
	}
	t := new(BackfillTicket)
	if _, err := c.do(ctx, r, t); err != nil {
		return nil, err
	}
	return t, nil
}

// UpdateBackfill replaces the state of a backfill ticket, when players left or came by another way. Tickets that are
// proposed for it go back to waiting.
func (c *Client) UpdateBackfill(ctx context.Context, t BackfillTicket) error {
	t.Assigned = nil
	r, err := backfillRequest(http.MethodPut, t.ID, "")
	if err != nil {
		return err
	}
	if r.body, err = encode(t); err != nil {
		return err
	}
	_, err = c.do(ctx, r, nil)
	return err
}

// DeleteBackfill ends backfill for a game. Tickets that are proposed for it go back to waiting.
func (c *Client) DeleteBackfill(ctx context.Context, id string) error {
	_, err := c.RemoveBackfill(ctx, id)
	return err
}

// RemoveBackfill is DeleteBackfill, and returns whether there was such a backfill ticket. Of services of earlier
// versions it is not known, and taken as true.
func (c *Client) RemoveBackfill(ctx context.Context, id string) (was bool, err error) {
	r, err := backfillRequest(http.MethodDelete, id, "")
	if err != nil {
		return false, err
	}
	r.removes, was = true, true
	r.begun = func(h http.Header) { was = h.Get("X-Deleted") != "false" }
	_, err = c.do(ctx, r, nil)
	return was && err == nil, err
}

// backfillRequest is a request about one backfill ticket that may be repeated: approving twice approves no more than
// approving once.
func backfillRequest(method, id, below string) (*request, error) {
	segment, err := segment("backfill ticket id", id)
	if err != nil {
		return nil, err
	}
	return &request{method: method, path: backfillPath + "/" + segment + below, repeatable: true}, nil
}

// backfillID reads an identifier that the API calls an object that carries it: it is a string, or an object with a
// member Id.
type backfillID string

func (id *backfillID) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*id = backfillID(text)
		return nil
	}
	var object struct {
		ID string `json:"Id"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	if object.ID == "" {
		return errors.New("the backfill ticket's Id is neither a string nor an object with one")
	}
	*id = backfillID(object.ID)
	return nil
}

// BackfillV1Request asks for players for a running game, once.
//
// Deprecated: use [BackfillRequest].
type BackfillV1Request struct {
	Connection string                  `json:"connection"` // ip:port of the game server
	Function   FunctionTarget          `json:"function"`
	Pools      map[string][]PoolFilter `json:"pools,omitempty"`
	Config     json.RawMessage         `json:"config,omitempty"` // what the function understands
	Queue      string                  `json:"queue,omitempty"`  // that of the tickets; empty for those without queues
}

// BackfillV1Result is who was found.
//
// Deprecated: use [BackfillTicket].
type BackfillV1Result struct {
	AssignedTickets      []Ticket `json:"assignedTickets"`
	AssignmentProperties Object   `json:"assignmentProperties"`
	Error                string   `json:"error"` // empty, or as No Match Found
}

// BackfillV1 finds players for a running game in one call.
//
// Deprecated: use [Client.CreateBackfill].
func (c *Client) BackfillV1(ctx context.Context, b BackfillV1Request) (*BackfillV1Result, error) {
	body, err := encode(b)
	if err != nil {
		return nil, err
	}
	result := new(BackfillV1Result)
	if _, err := c.do(ctx, &request{method: http.MethodPost, path: "v1/backfill", body: body}, result); err != nil {
		return nil, err
	}
	return result, nil
}

package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
)

const backfillPath = "v2/backfill"

// CreateBackfill begins backfill for a game and returns the id of its ticket.
func (c *Client) CreateBackfill(ctx context.Context, b BackfillRequest) (id string, err error) {
	var created struct {
		ID backfillID `json:"Id"`
	}
	err = c.call(ctx, plainCall{method: http.MethodPost, path: backfillPath, body: b}, &created)
	return string(created.ID), err
}

// UpdateBackfill replaces the state of a backfill ticket, when players left or came by another way. Tickets that are
// proposed for it go back to waiting.
func (c *Client) UpdateBackfill(ctx context.Context, t BackfillTicket) error {
	t.AssignedTickets = nil
	return c.call(ctx, plainCall{method: http.MethodPut, path: backfillPath + "/{backfill ticket id}",
		segments: []string{t.ID}, body: t, repeatable: true}, nil)
}

// DeleteBackfill ends backfill for a game. Tickets that are proposed for it go back to waiting.
func (c *Client) DeleteBackfill(ctx context.Context, id string) error {
	_, err := c.RemoveBackfill(ctx, id)
	return err
}

// RemoveBackfill is DeleteBackfill, and returns whether there was such a backfill ticket. Of services of earlier
// versions it is not known, and taken as true.
func (c *Client) RemoveBackfill(ctx context.Context, id string) (was bool, err error) {
	segment, err := segment("backfill ticket id", id)
	if err != nil {
		return false, err
	}
	was = true
	r := &request{method: http.MethodDelete, path: backfillPath + "/" + segment, repeatable: true, removes: true,
		begun: func(h http.Header) { was = h.Get("X-Deleted") != "false" }}
	_, err = c.do(ctx, r, nil)
	return was && err == nil, err
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

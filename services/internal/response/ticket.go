// Package response is the JSON form of what several services answer with.
package response

import (
	"encoding/json"

	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/state"
)

// Ticket is TicketResponse of the contract.
type Ticket struct {
	ID         string             `json:"id"`
	Attributes map[string]float64 `json:"attributes"`
	Properties map[string][]byte  `json:"properties"`
	Created    int64              `json:"created"`
	// Assignment is null until the ticket has a result.
	Assignment *Assignment `json:"assignment"`
	// Players is absent when the owner is the only one.
	Players []Player `json:"players,omitempty"`
	// Queues are left out for a ticket without queues, and Unserved if all are served or the ticket has a result.
	Queues   []string `json:"queues,omitempty"`
	Unserved []string `json:"unservedQueues,omitempty"`
}

// Player is one of the players of a ticket.
type Player struct {
	ID         string             `json:"id"`
	Attributes map[string]float64 `json:"attributes,omitempty"`
	Properties map[string][]byte  `json:"properties,omitempty"`
}

// Assignment is the result of a ticket.
type Assignment struct {
	Connection      string          `json:"connection"`
	Error           string          `json:"error"`
	Properties      json.RawMessage `json:"properties"`
	MatchProperties json.RawMessage `json:"matchproperties"`
}

// NewTicket is a ticket as it is answered.
func NewTicket(t *state.Ticket) Ticket {
	r := Ticket{
		ID:         t.Body.GetId(),
		Attributes: fields.Attributes(t.Body.GetAttributeNames(), t.Body.GetAttributeValues()),
		Properties: t.Body.GetProperties(),
		Created:    t.Body.GetCreated(),
		Queues:     t.Body.GetQueues(),
		Unserved:   t.Unserved,
	}
	for _, p := range t.Body.GetPlayers() {
		r.Players = append(r.Players, Player{
			ID: p.GetId(), Attributes: fields.Attributes(p.GetAttributeNames(), p.GetAttributeValues()),
			Properties: p.GetProperties(),
		})
	}
	if a := t.Assignment; a != nil {
		r.Assignment = &Assignment{
			Connection:      a.GetConnection(),
			Error:           a.GetError(),
			Properties:      ObjectOrNull(a.GetProperties()),
			MatchProperties: ObjectOrNull(a.GetMatchProperties()),
		}
	}
	return r
}

// ObjectOrNull is a stored JSON object, or null.
func ObjectOrNull(stored []byte) json.RawMessage {
	if len(stored) == 0 {
		return json.RawMessage("null")
	}
	return stored
}

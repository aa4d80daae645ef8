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
	// Acceptance is left out unless the ticket's match asks its players.
	Acceptance *Acceptance `json:"acceptance,omitempty"`
	// Estimate is left out where none was asked for, or none can be given.
	Estimate *Estimate `json:"estimate,omitempty"`
}

// Estimate is for how many more milliseconds four of five tickets wait that are like this one.
type Estimate struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// Acceptance is what a match asks the players of a ticket.
type Acceptance struct {
	Match string `json:"match"`
	// Remaining is for how many milliseconds they may answer.
	Remaining int64 `json:"remaining"`
	// Players are asked in all tickets of the match, and Accepted of them accepted so far.
	Players  int `json:"players"`
	Accepted int `json:"accepted"`
	// Unanswered are the players of this ticket who did not answer.
	Unanswered []string `json:"unanswered"`
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
	// Seats are left out unless the match has seat passes.
	Seats map[string]string `json:"seats,omitempty"`
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
	if a := t.Acceptance; a != nil {
		r.Acceptance = &Acceptance{Match: a.Match, Remaining: a.Left.Milliseconds(), Players: a.Players,
			Accepted: a.Accepted, Unanswered: a.Open}
	}
	if e := t.Estimate; e != nil {
		r.Estimate = &Estimate{Low: e.Low.Milliseconds(), High: e.High.Milliseconds()}
	}
	if a := t.Assignment; a != nil {
		r.Assignment = &Assignment{
			Connection:      a.GetConnection(),
			Error:           a.GetError(),
			Properties:      ObjectOrNull(a.GetProperties()),
			MatchProperties: ObjectOrNull(a.GetMatchProperties()),
			Seats:           t.Seats,
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

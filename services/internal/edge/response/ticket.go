// Package response is the JSON form of what several services answer with.
package response

import (
	"encoding/json"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/state"
)

// NewTicket is a ticket as it is answered.
func NewTicket(t *state.Ticket) Ticket {
	r := Ticket{
		ID:         t.Body.GetId(),
		Attributes: fields.Attributes(t.Body.GetAttributeNames(), t.Body.GetAttributeValues()),
		Properties: t.Body.GetProperties(),
		Created:    t.Body.GetCreated(),
		Queues:     t.Body.GetQueues(),

		UnservedQueues: t.Unserved,
	}
	for _, p := range t.Body.GetPlayers() {
		one := Player{ID: p.GetId(), Properties: p.GetProperties()}
		if len(p.GetAttributeNames()) > 0 {
			one.Attributes = fields.Attributes(p.GetAttributeNames(), p.GetAttributeValues())
		}
		r.Players = append(r.Players, one)
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

// Created is the answer to a create that waited.
type Created struct {
	Ticket

	Running string  `json:"running,omitzero"`
	Status  *string `json:"status"` // always null
}

// Followed is what an event of a stream says of a ticket: not what its creator said, which may be long.
type Followed struct {
	ID             string      `json:"id"`
	Assignment     *Assignment `json:"assignment,omitzero"`
	Created        int64       `json:"created,omitzero"`
	Queues         []string    `json:"queues,omitempty"`
	UnservedQueues []string    `json:"unservedQueues,omitempty"`
	Acceptance     *Acceptance `json:"acceptance,omitzero"`
	Estimate       *Estimate   `json:"estimate,omitzero"`
}

// NewFollowed is a ticket as a stream tells it: with its assignment alone, once it has that.
func NewFollowed(t *state.Ticket) Followed {
	all := NewTicket(t)
	if all.Assignment != nil {
		return Followed{ID: all.ID, Assignment: all.Assignment}
	}
	return Followed{ID: all.ID, Created: all.Created, Queues: all.Queues, UnservedQueues: all.UnservedQueues,
		Acceptance: all.Acceptance, Estimate: all.Estimate}
}

// ObjectOrNull is a stored JSON object, or null.
func ObjectOrNull(stored []byte) json.RawMessage {
	if len(stored) == 0 {
		return json.RawMessage("null")
	}
	return stored
}

// Roster are the players of a running game; nil if they are not known.
func Roster(stored *pb.Roster) []GamePlayer {
	if stored == nil {
		return nil
	}
	players := []GamePlayer{}
	for _, p := range stored.GetPlayers() {
		one := GamePlayer{ID: p.GetId(), Team: p.GetTeam(), Role: p.GetRole()}
		if len(p.GetAttributeNames()) > 0 {
			one.Attributes = fields.Attributes(p.GetAttributeNames(), p.GetAttributeValues())
		}
		players = append(players, one)
	}
	return players
}

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

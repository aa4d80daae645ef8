package ticket

import (
	"encoding/json"

	"matchmaker.dev/services/internal/payload"
	"matchmaker.dev/services/internal/state"
)

// createResponse is CreateTicketResponse of the contract, written by hand: all but the id, which
// has nothing to escape, is the same every time. Status is a leftover of an older way to report errors: always null.
func createResponse(id string) []byte { return []byte(`{"id":"` + id + `","status":null}`) }

// response is TicketResponse of the contract.
type response struct {
	ID         string             `json:"id"`
	Attributes map[string]float64 `json:"attributes"`
	Properties map[string][]byte  `json:"properties"`
	Created    int64              `json:"created"`
	Assignment *assignment        `json:"assignment"`
}

type assignment struct {
	Connection      string          `json:"connection"`
	Error           string          `json:"error"`
	Properties      json.RawMessage `json:"properties"`
	MatchProperties json.RawMessage `json:"matchproperties"`
}

func responseOf(t *state.Ticket) response {
	r := response{
		ID:         t.Body.GetId(),
		Attributes: payload.Attributes(t.Body.GetAttributeNames(), t.Body.GetAttributeValues()),
		Properties: t.Body.GetProperties(),
		Created:    t.Body.GetCreated(),
	}
	if a := t.Assignment; a != nil {
		r.Assignment = &assignment{
			Connection:      a.GetConnection(),
			Error:           a.GetError(),
			Properties:      object(a.GetProperties()),
			MatchProperties: object(a.GetMatchProperties()),
		}
	}
	return r
}

// object is a stored JSON object, or null.
func object(stored []byte) json.RawMessage {
	if len(stored) == 0 {
		return json.RawMessage("null")
	}
	return stored
}

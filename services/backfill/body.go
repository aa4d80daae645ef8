package backfill

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/fields"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/response"
	"matchmaker.dev/services/internal/state"
)

// body is BackfillTicket of the contract, with its casing.
type body struct {
	ID            string `json:"Id"`
	Created       int64  `json:"Created"`
	RecordVersion int64  `json:"RecordVersion"`
	contents
}

// approval is the answer to an approval: the backfill ticket, and the players to let in.
type approval struct {
	body
	// Assigned are the tickets that this approval assigned, and the tickets of the last seconds, in case their answer was
	// lost. It is left out when there are none.
	Assigned []response.Ticket `json:"assignedTickets,omitempty"`
}

func approvalOf(a *state.Approval) approval {
	out := approval{body: bodyOf(a.Backfill)}
	for _, t := range slices.Concat(a.Assigned, a.Previous) {
		joined := response.NewTicket(t)
		if joined.Players == nil {
			joined.Players = []response.Player{{ID: t.Body.GetOwner()}}
		}
		// They are for the player alone. What the server needs is in the match properties.
		if joined.Assignment != nil {
			joined.Assignment.Properties = response.ObjectOrNull(nil)
		}
		out.Assigned = append(out.Assigned, joined)
	}
	return out
}

// contents are what a server says of itself.
type contents struct {
	Connection *string `json:"Connection"`
	// Queue is left out where there is none. In a PUT it may be absent, to stay as it is.
	Queue *string `json:"queue,omitempty"`
	// Players are those in the game. It is left out, and may be absent in a PUT, as Queue is.
	Players *[]fields.RosterPlayer `json:"players,omitzero"`
	fields.Values
}

// replacement is the body of a PUT. What the service itself keeps may be sent back to it: it is not taken over.
type replacement struct {
	ID            *string `json:"Id"`
	Created       *int64  `json:"Created"`
	RecordVersion *int64  `json:"RecordVersion"`
	contents
	// Assigned is in the answer to an approval, so that an answer can be put back as it is.
	Assigned []jsontext.Value `json:"assignedTickets"`
}

// record is what is stored, but for what the service itself keeps.
func (in *contents) record(l fields.Limits) (*pb.Backfill, error) {
	if err := in.Check(l); err != nil {
		return nil, err
	}
	b := &pb.Backfill{Properties: in.Properties}
	if in.Connection != nil {
		if reason := connectionProblem(*in.Connection); reason != "" {
			return nil, problem.New(problem.Invalid, "Connection: %s", reason)
		}
		b.Connection = *in.Connection
	}
	if in.Queue != nil && *in.Queue != "" {
		if reason := fields.QueueProblem(*in.Queue); reason != "" {
			return nil, problem.New(problem.Invalid, "queue: %s", reason)
		}
	}
	if in.Players != nil {
		if err := fields.CheckRoster(*in.Players, l); err != nil {
			return nil, err
		}
	}
	b.Queue, b.Roster = in.Queue, fields.RosterRecord(in.Players)
	b.AttributeNames, b.AttributeValues = in.Columns()
	return b, nil
}

func bodyOf(b *pb.Backfill) body {
	out := body{ID: b.GetId(), Created: b.GetCreated(), RecordVersion: b.GetVersion()}
	if connection := b.GetConnection(); connection != "" {
		out.Connection = &connection
	}
	if b.GetQueue() != "" {
		out.Queue = b.Queue
	}
	out.Players = fields.RosterOf(b.GetRoster())
	out.Attributes = fields.Attributes(b.GetAttributeNames(), b.GetAttributeValues())
	out.Properties = maps.Clone(b.GetProperties())
	maps.DeleteFunc(out.Properties, func(name string, _ []byte) bool { return strings.HasPrefix(name, fields.Note) })
	return out
}

// connectionProblem says why players would not be sent to a connection. Usually it is ip:port, but names, and tickets
// of relays, are connections as well.
func connectionProblem(connection string) string {
	const longest = 256
	switch {
	case len(connection) > longest:
		return "more than 256 bytes"
	case strings.ContainsFunc(connection, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }):
		return "spaces and control characters are not allowed"
	}
	return ""
}

package backfill

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/state"
)

// maxConnection is the most bytes of the connection of a game.
const maxConnection = 256

// approvalOf is the answer to an approval: the backfill ticket, and the tickets that this approval assigned, or an
// earlier one in the last seconds, whose answer may have been lost.
func approvalOf(a *state.Approval) response.BackfillTicket {
	out := bodyOf(a.Backfill)
	for _, t := range slices.Concat(a.Assigned, a.Previous) {
		joined := response.NewTicket(t)
		if joined.Players == nil {
			joined.Players = []response.Player{{ID: t.Body.GetOwner()}}
		}
		// They are for the player alone. What the server needs is in the match properties.
		if joined.Assignment != nil {
			joined.Assignment.Properties = response.ObjectOrNull(nil)
		}
		out.AssignedTickets = append(out.AssignedTickets, joined)
	}
	return out
}

// contents are what a server says of itself.
type contents struct {
	Connection *string `json:"Connection"`
	// Queue and Players may be absent in a PUT, to stay as they are.
	Queue   *string                `json:"queue"`
	Players *[]fields.RosterPlayer `json:"players"`
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
		if reason := assignment.ConnectionProblem(*in.Connection, maxConnection); reason != "" {
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

func bodyOf(b *pb.Backfill) response.BackfillTicket {
	out := response.BackfillTicket{
		ID: b.GetId(), Created: b.GetCreated(), RecordVersion: b.GetVersion(), Queue: b.GetQueue(),
		Attributes: fields.Attributes(b.GetAttributeNames(), b.GetAttributeValues()),
		Properties: maps.Clone(b.GetProperties()), Players: response.Roster(b.GetRoster()),
	}
	if connection := b.GetConnection(); connection != "" {
		out.Connection = &connection
	}
	maps.DeleteFunc(out.Properties, func(name string, _ []byte) bool { return strings.HasPrefix(name, fields.Note) })
	return out
}

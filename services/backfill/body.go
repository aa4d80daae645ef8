package backfill

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/state"
)

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

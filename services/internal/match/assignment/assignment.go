// Package assignment makes the result of a ticket from the proposal of its match.
package assignment

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// Of is the result of one ticket of a match.
//
// A function sets properties for single tickets, or for the match. An older function sets one object for all tickets of
// the match instead. That becomes every ticket's properties, unless the function also set one of the newer two.
func Of(p *pb.Proposal, ticket, connection, failure string) *pb.Assignment {
	a := &pb.Assignment{Connection: connection, Error: failure}
	if len(p.GetTicketProperties()) == 0 && len(p.GetMatchProperties()) == 0 {
		a.Properties = p.GetAssignmentProperties()
		return a
	}
	a.Properties = p.GetTicketProperties()[ticket]
	a.MatchProperties = p.GetMatchProperties()
	return a
}

// MaxConnection is the most bytes of a hosting system's connection: a DNS name and a port, and some more.
const MaxConnection = 300

// ConnectionProblem says why players would not be sent to a connection of at most so many bytes; empty if they are.
// Usually it is ip:port, but names, and tickets of relays, are connections as well.
func ConnectionProblem(connection string, most int) string {
	switch {
	case len(connection) > most:
		return fmt.Sprintf("more than %d bytes", most)
	case !utf8.ValidString(connection):
		return "not UTF-8"
	case strings.ContainsFunc(connection, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }):
		return "spaces and control characters are not allowed"
	}
	return ""
}

// All are the results of a match's tickets: one when all have the same. They name the match if its players get seat
// passes.
func All(m *pb.Match, tickets []string, connection, failure string) []*pb.Assignment {
	p := m.GetProposal()
	if len(p.GetTicketProperties()) == 0 {
		tickets = tickets[:min(1, len(tickets))]
	}
	results := make([]*pb.Assignment, len(tickets))
	for i, id := range tickets {
		results[i] = Of(p, id, connection, failure)
		if m.GetSeats() && failure == "" {
			results[i].Match, results[i].Backfill = m.GetId(), p.GetFilling().GetBackfill()
		}
	}
	return results
}

// Waited is how long tickets waited for their results, in seconds. Three services record it, with the labels project,
// config and result, which is connection or error.
func Waited(m telemetry.Meter) metric.Float64Histogram {
	return m.WaitSeconds("matchmaker.time_to_assignment",
		"Time from a ticket's creation to its result; the label result says whether that is a connection or an error.")
}

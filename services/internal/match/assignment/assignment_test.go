package assignment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/assignment"
)

func TestOf(t *testing.T) {
	old, match := []byte(`{"old":1}`), []byte(`{"match":1}`)
	own := map[string][]byte{"t": []byte(`{"own":1}`), "u": []byte(`{"own":2}`)}
	for name, test := range map[string]struct {
		proposal *pb.Proposal
		want     *pb.Assignment
	}{
		"nothing set":                       {&pb.Proposal{}, &pb.Assignment{}},
		"the older setting is for everyone": {&pb.Proposal{AssignmentProperties: old}, &pb.Assignment{Properties: old}},
		"ticket properties are private":     {&pb.Proposal{TicketProperties: own}, &pb.Assignment{Properties: own["t"]}},
		"match properties are for everyone": {&pb.Proposal{MatchProperties: match}, &pb.Assignment{MatchProperties: match}},
		"both of the newer": {
			&pb.Proposal{TicketProperties: own, MatchProperties: match},
			&pb.Assignment{Properties: own["t"], MatchProperties: match},
		},
		"no conversion beside ticket properties": {
			&pb.Proposal{AssignmentProperties: old, TicketProperties: own}, &pb.Assignment{Properties: own["t"]},
		},
		"no conversion beside match properties": {
			&pb.Proposal{AssignmentProperties: old, MatchProperties: match}, &pb.Assignment{MatchProperties: match},
		},
		"a ticket without properties of its own": {
			&pb.Proposal{TicketProperties: map[string][]byte{"u": own["u"]}}, &pb.Assignment{},
		},
	} {
		test.want.Connection, test.want.Error = "1.2.3.4:5", "why"
		got := assignment.Of(test.proposal, "t", "1.2.3.4:5", "why")
		if diff := cmp.Diff(test.want, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Results of a match with seats say in which match and which running game, unless there is no game.
func TestResultsNameTheMatchOfSeats(t *testing.T) {
	properties := map[string][]byte{"t": []byte(`{"own":1}`)}
	for name, test := range map[string]struct {
		match   *pb.Match
		failure string
		want    *pb.Assignment
	}{
		"without seats": {&pb.Match{Id: "m"}, "", &pb.Assignment{Connection: "c"}},
		"a new game":    {&pb.Match{Id: "m", Seats: true, Backfill: "b"}, "", &pb.Assignment{Connection: "c", Match: "m"}},
		"a running game": {
			&pb.Match{Id: "m", Seats: true, Proposal: &pb.Proposal{Filling: &pb.Filling{Backfill: "b"},
				TicketProperties: properties}}, "",
			&pb.Assignment{Connection: "c", Match: "m", Backfill: "b", Properties: properties["t"]},
		},
		"an error": {&pb.Match{Id: "m", Seats: true}, "why", &pb.Assignment{Connection: "c", Error: "why"}},
	} {
		got := assignment.All(test.match, []string{"t"}, "c", test.failure)
		if diff := cmp.Diff([]*pb.Assignment{test.want}, got, protocmp.Transform()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

package state

import (
	"strings"
	"testing"
	"unicode/utf8"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

func TestEventsTellTeamsWithinLimits(t *testing.T) {
	team := func(name string, tickets ...string) *pb.Team { return &pb.Team{Name: name, Tickets: tickets} }
	if got := eventTeams([]*pb.Team{team("", "a", "b")}); got != nil {
		t.Errorf("one team without a name: %v", got)
	}
	if got := eventTeams([]*pb.Team{team("all", "a", "b")}); len(got) != 1 || got[0].GetTickets() != 2 {
		t.Errorf("one team with a name: %v", got)
	}
	long := strings.Repeat("x", maxTeamName-1) + "é" // its last letter is cut in the middle
	got := eventTeams([]*pb.Team{team(long, "a"), team("", "b", "c")})
	if len(got) != 2 || got[0].GetName() != long[:maxTeamName-1] || got[1].GetTickets() != 2 ||
		!utf8.ValidString(got[0].GetName()) {
		t.Errorf("a long name: %v", got)
	}
	if got := eventTeams(make([]*pb.Team, maxEventTeams+1)); got != nil {
		t.Errorf("too many teams: %d", len(got))
	}
}

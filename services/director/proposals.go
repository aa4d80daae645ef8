package director

import (
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// proposalMemory is about how much memory a project's proposals may take in its director, from their arrival until they
// are settled. A config may have its fair share: one alone half of it, which is 600,000 matches of two tickets.
const proposalMemory = 512 << 20

// About how much memory a proposal takes, and each of its tickets, beside its message.
const (
	proposalSize = 400
	ticketSize   = 16
)

// sizeOf is about how much memory each proposal of a part takes.
func sizeOf(p bus.Part) int64 {
	n := int64(len(p.GetProposals()))
	return proposalSize + (int64(p.Bytes)+ticketSize*int64(countTickets(p.GetProposals())))/max(n, 1)
}

func countTickets(proposals []*pb.Proposal) int {
	n := 0
	for _, p := range proposals {
		for _, team := range p.GetTeams() {
			n += len(team.GetTickets())
		}
	}
	return n
}

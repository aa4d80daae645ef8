package director

import (
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/state"
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
	n, tickets := int64(len(p.GetProposals())), 0
	for _, one := range p.GetProposals() {
		tickets += state.CountTickets(one)
	}
	return proposalSize + (int64(p.Bytes)+ticketSize*int64(tickets))/max(n, 1)
}

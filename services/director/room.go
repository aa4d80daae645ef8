package director

import (
	"sync"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// proposalMemory is about how much memory a project's proposals may take in its director, from their arrival until they
// are settled. A config may have as many as leave the same again free: one alone may have half of it, which is 600,000
// matches of two tickets. With n configs that want more, each has one (n+1)th, and the next one has as much.
const proposalMemory = 512 << 20

// About how much memory a proposal takes, and each of its tickets, beside its message.
const (
	proposalSize = 400
	ticketSize   = 16
)

// room is what is left of the memory for a project's proposals. It is safe for concurrent use.
type room struct {
	limit int64

	mu      sync.Mutex
	used    int64
	configs map[string]int64
}

func newRoom(limit int64) *room { return &room{limit: limit, configs: map[string]int64{}} }

// reserve takes room for proposals of a config, and tells whether there was enough.
func (r *room) reserve(config string, size int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.configs[config]+size > r.limit-r.used-size {
		return false
	}
	r.used += size
	r.configs[config] += size
	return true
}

// size is how much is in use.
func (r *room) size() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// release gives room back.
func (r *room) release(config string, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= size
	if r.configs[config] -= size; r.configs[config] <= 0 {
		delete(r.configs, config)
	}
}

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

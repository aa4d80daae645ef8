// Package proposals packs proposals into columns, and unpacks them. A match function makes tens of thousands of small
// ones at a time. As one message each, they would cost a runner more time than the function, and a director ten
// allocations each.
package proposals

import (
	"errors"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Plain packs proposals that have only teams, a score and an age. The zero value is ready to use.
type Plain struct {
	columns pb.PlainProposals
	ids     []byte
	size    int // of the first id
	tickets int
	uneven  bool // the ids have different lengths, and each has its size in the columns
	several bool // a proposal before the last one does not have exactly one team
}

// Reset removes all proposals. It keeps the memory.
func (p *Plain) Reset() {
	c := &p.columns
	c.Tickets, c.Sizes, c.Teams, c.Counts = nil, c.Sizes[:0], c.Teams[:0], c.Counts[:0]
	c.Scores, c.Oldest, c.Compare, c.Players = c.Scores[:0], c.Oldest[:0], c.Compare[:0], c.Players[:0]
	p.ids, p.tickets, p.uneven, p.several = p.ids[:0], 0, false, false
}

// Len is the number of proposals since Reset.
func (p *Plain) Len() int { return len(p.columns.GetScores()) }

// Propose begins a proposal.
func (p *Plain) Propose(score float64, oldest int64) {
	c := &p.columns
	if n := len(c.Counts); n > 0 {
		p.several = p.several || c.Counts[n-1] != 1
	}
	c.Scores, c.Oldest, c.Counts = append(c.Scores, score), append(c.Oldest, oldest), append(c.Counts, 0)
}

// Compare marks the last proposal: its claim compares the players of its tickets.
func (p *Plain) Compare() {
	c := &p.columns
	c.Compare = append(c.Compare, uint32(len(c.Scores)-1))
}

// Players says how many players the tickets of the last proposal have, if a ticket has several.
func (p *Plain) Players(n int) {
	c := &p.columns
	for len(c.Players) < len(c.Scores)-1 {
		c.Players = append(c.Players, 0)
	}
	c.Players = append(c.Players, uint32(n))
}

// Team begins a team of the last proposal.
func (p *Plain) Team() {
	c := &p.columns
	c.Teams = append(c.Teams, 0)
	c.Counts[len(c.Counts)-1]++
}

// Ticket adds a ticket to the last team.
func (p *Plain) Ticket(id string) {
	c := &p.columns
	c.Teams[len(c.Teams)-1]++
	if p.tickets == 0 {
		p.size = len(id)
	}
	if p.uneven || len(id) != p.size {
		p.addSize(len(id))
	}
	p.tickets++
	p.ids = append(p.ids, id...)
}

// addSize adds the size of an id. If it is the first that differs, addSize adds those before it as well.
func (p *Plain) addSize(size int) {
	c := &p.columns
	for !p.uneven && len(c.Sizes) < p.tickets {
		c.Sizes = append(c.Sizes, uint32(p.size))
	}
	p.uneven = true
	c.Sizes = append(c.Sizes, uint32(size))
}

// Message returns the proposals, or nil if there are none. It is valid until the next call of any method.
func (p *Plain) Message() *pb.PlainProposals {
	c := &p.columns
	if len(c.Scores) == 0 {
		return nil
	}
	c.Tickets = p.ids
	if !p.uneven && p.tickets > 0 {
		c.Sizes = append(c.Sizes[:0], uint32(p.size))
	}
	if !p.several && c.Counts[len(c.Counts)-1] == 1 {
		c.Counts = c.Counts[:0]
	}
	return c
}

var errColumns = errors.New("the columns of the proposals do not fit each other")

// Unpack appends a part's plain proposals to its other ones. They share memory, because none of them is kept for long.
// If the part's runner did not look for players, all proposals are to be compared.
//
// Errors: the columns do not fit each other.
func Unpack(part *pb.RunPart) error {
	c := part.GetPlain()
	part.Plain = nil
	n, tickets, err := measure(c)
	if err != nil {
		return err
	}
	if !part.GetApart() {
		defer func() {
			for _, m := range part.GetProposals() {
				m.Compare = true
			}
		}()
	}
	if n == 0 {
		return nil
	}
	unpacked, teams := make([]pb.Proposal, n), make([]pb.Team, len(c.GetTeams()))
	pointers, ids := make([]*pb.Team, len(teams)), make([]string, 0, tickets)
	rest := string(c.GetTickets())
	for i := range tickets {
		size := int(c.GetSizes()[min(i, len(c.GetSizes())-1)]) // a single size is of all
		ids, rest = append(ids, rest[:size]), rest[size:]
	}
	for i := range teams {
		size := c.GetTeams()[i]
		teams[i].Tickets, ids = ids[:size:size], ids[size:]
		pointers[i] = &teams[i]
	}
	part.Proposals = append(make([]*pb.Proposal, 0, len(part.GetProposals())+n), part.GetProposals()...)
	for i := range unpacked {
		size := uint32(1)
		if len(c.GetCounts()) > 0 {
			size = c.GetCounts()[i]
		}
		m := &unpacked[i]
		m.Score, m.Oldest = c.GetScores()[i], c.GetOldest()[i]
		m.Teams, pointers = pointers[:size:size], pointers[size:]
		part.Proposals = append(part.Proposals, m)
	}
	for _, i := range c.GetCompare() {
		unpacked[i].Compare = true
	}
	for i, players := range c.GetPlayers() {
		unpacked[i].Players = int32(players)
	}
	return nil
}

// TicketsOf returns the tickets of all teams, team by team.
func TicketsOf(p *pb.Proposal) []string {
	var ids []string
	for _, team := range p.GetTeams() {
		ids = append(ids, team.GetTickets()...)
	}
	return ids
}

// measure checks that the columns fit each other, and counts proposals and tickets.
func measure(c *pb.PlainProposals) (proposals, tickets int, err error) {
	proposals, tickets = len(c.GetScores()), sum(c.GetTeams())
	teams, bytes := proposals, sum(c.GetSizes())
	if len(c.GetCounts()) > 0 {
		teams = sum(c.GetCounts())
		if len(c.GetCounts()) != proposals {
			return 0, 0, errColumns
		}
	}
	sizes := tickets
	if len(c.GetSizes()) == 1 {
		sizes, bytes = 1, bytes*tickets
	}
	if tickets > len(c.GetTickets()) || len(c.GetTickets()) != bytes || len(c.GetSizes()) != sizes ||
		len(c.GetTeams()) != teams || len(c.GetOldest()) != proposals || len(c.GetPlayers()) > proposals ||
		slices.ContainsFunc(c.GetCompare(), func(i uint32) bool { return int(i) >= proposals }) {
		return 0, 0, errColumns
	}
	return proposals, tickets, nil
}

func sum(column []uint32) int {
	n := 0
	for _, v := range column {
		n += int(v)
	}
	return n
}

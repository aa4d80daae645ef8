package desk

import (
	"fmt"
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
)

// PartSize is about how many bytes of proposals a part of an answer may have: half of
// what the bus carries in one message.
const PartSize = 512 << 10

// MostTickets is how many tickets a proposal may have: all of a match are claimed in one
// script, which must not hold Redis for long and can pass on a few thousand values at the most.
const MostTickets = 1000

// proposals turns answers into messages, which it uses again for the next part:
// a message is marshalled by the time that it was sent.
type proposals struct {
	kept []*pb.Proposal
}

// send answers with an answer's proposals in parts of about PartSize; those of
// the last part are returned instead. created is the selection's, by number.
func (p *proposals) send(a *block.Answer, s *pool.Selection, g *games, created []float64, answer func(*pb.RunPart) error) ([]*pb.Proposal, error) {
	count, bytes := 0, 0
	for i := range a.Len() {
		if count == len(p.kept) {
			p.kept = append(p.kept, &pb.Proposal{})
		}
		if n := len(a.Tickets(i)); n > MostTickets {
			return nil, Complaint{fmt.Errorf("proposal %d has %d tickets, at most %d are allowed", i, n, MostTickets)}
		}
		extras := a.Extras(i)
		size := fill(p.kept[count], a, i, extras, s, created)
		filling, more, err := g.filling(extras)
		if err != nil {
			return nil, Complaint{fmt.Errorf("proposal %d %w", i, err)}
		}
		p.kept[count].Filling = filling
		size += more
		if size > PartSize {
			return nil, Complaint{fmt.Errorf("proposal %d has about %d bytes, more than the %d that a proposal may have", i, size, PartSize)}
		}
		if bytes+size > PartSize {
			if err := answer(&pb.RunPart{Proposals: p.kept[:count]}); err != nil {
				return nil, Complaint{err}
			}
			p.kept[0], p.kept[count] = p.kept[count], p.kept[0]
			count, bytes = 0, 0
		}
		count, bytes = count+1, bytes+size
	}
	return p.kept[:count], nil
}

// fill makes m proposal i of an answer, and returns about how many bytes it takes.
func fill(m *pb.Proposal, a *block.Answer, i int, extras *block.Extras, s *pool.Selection, created []float64) (size int) {
	m.Score = a.Score(i)
	m.Oldest = int64(created[slices.Min(a.Tickets(i))]) // numbers ascend by creation
	size = 32
	n := a.Teams(i)
	for len(m.Teams) < n {
		m.Teams = append(m.Teams, &pb.Team{})
	}
	m.Teams = m.Teams[:n]
	for t := range m.Teams {
		team := m.Teams[t]
		team.Name, team.Tickets = "", team.Tickets[:0]
		size += 8
		for _, number := range a.Team(i, t) {
			id := s.ID(int(number))
			team.Tickets = append(team.Tickets, id)
			size += len(id) + 4
		}
	}
	return size + decorate(m, extras, s)
}

// decorate sets what few proposals have, and clears it for the others.
func decorate(m *pb.Proposal, e *block.Extras, s *pool.Selection) (size int) {
	m.TicketProperties, m.Hosting = nil, nil
	if e == nil {
		m.Connection, m.Error, m.AssignmentProperties, m.MatchProperties = "", "", nil, nil
		return 0
	}
	m.Connection, m.Error, m.AssignmentProperties, m.MatchProperties = e.Connection, e.Error, e.AssignmentProperties, e.MatchProperties
	size = len(e.Connection) + len(e.Error) + len(e.AssignmentProperties) + len(e.MatchProperties) + 24
	for t, name := range e.TeamNames {
		m.Teams[t].Name = name
		size += len(name)
	}
	if len(e.TicketProperties) > 0 {
		m.TicketProperties = make(map[string][]byte, len(e.TicketProperties))
	}
	for _, t := range e.TicketProperties {
		id := s.ID(int(t.Ticket))
		m.TicketProperties[id] = t.JSON
		size += len(id) + len(t.JSON) + 16
	}
	if e.Region != "" || e.Fleet != "" || e.Profile != "" {
		m.Hosting = &pb.HostingOverride{Region: e.Region, Fleet: e.Fleet, Profile: e.Profile}
		size += len(e.Region) + len(e.Fleet) + len(e.Profile) + 16
	}
	return size
}

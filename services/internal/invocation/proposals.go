package invocation

import (
	"fmt"
	"slices"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/pool"
	"matchmaker.dev/services/internal/proposals"
)

// MaxPartSize is about how many bytes of proposals a part of an answer may have: half of
// what the bus carries in one message.
const MaxPartSize = 512 << 10

// MaxTickets is how many tickets a proposal may have: all of a match are claimed in one
// script, which must not hold Redis for long and can pass on a few thousand values at the most.
const MaxTickets = 1000

// answers turns answers of functions into parts of answers to runs. What it has is used again for
// the next part: one is marshalled by the time that it was sent.
type answers struct {
	plain proposals.Plain
	window
	// kept are those that are more than tickets and a score, the first count of which belong to the part.
	kept  []*pb.Proposal
	count int
	bytes int // of the part, about
	// traced are the tickets that are sampled, of the part, and sampled is whether the answer has any.
	traced  []*pb.Traced
	sampled bool
}

// send answers with an answer's proposals in parts of about MaxPartSize; those of the last part
// are put into last instead. created is the selection's, by number.
func (p *answers) send(a *block.Answer, s *pool.Selection, g *games, created []float64, last *pb.RunPart, answer func(*pb.RunPart) error) error {
	p.begin()
	p.window = window{ids: p.ids[:0], rest: a.AllTickets()}
	for i := range a.Len() {
		tickets := a.Tickets(i)
		if s.Traced() > 0 {
			p.trace(tickets, s)
		}
		if n := len(tickets); n > MaxTickets {
			return FunctionError{fmt.Errorf("proposal %d has %d tickets, at most %d are allowed", i, n, MaxTickets)}
		}
		ids := p.take(len(tickets), s, created)
		oldest := int64(created[slices.Min(tickets)]) // numbers ascend by creation
		extras := a.Extras(i)
		if extras == nil {
			size := 16 + 2*a.Teams(i)
			for _, id := range ids {
				size += 2 + len(id)
			}
			if err := p.room(size, answer); err != nil {
				return err
			}
			p.propose(a, i, ids, oldest)
			continue
		}
		if p.count == len(p.kept) {
			p.kept = append(p.kept, &pb.Proposal{})
		}
		at := p.count
		m := p.kept[at]
		m.Score, m.Oldest = a.Score(i), oldest
		size := fill(m, a, i, extras, s)
		filling, more, err := g.filling(extras)
		if err != nil {
			return FunctionError{fmt.Errorf("proposal %d %w", i, err)}
		}
		m.Filling = filling
		if size += more; size > MaxPartSize {
			return FunctionError{fmt.Errorf("proposal %d has about %d bytes, more than the %d that a proposal may have", i, size, MaxPartSize)}
		}
		if err := p.room(size, answer); err != nil {
			return err
		}
		p.kept[at], p.kept[p.count] = p.kept[p.count], m // which are the same, unless this began a part
		p.count++
	}
	last.Proposals, last.Plain, last.Traced = p.kept[:p.count], p.plain.Message(), p.traced
	return nil
}

// begin begins a part.
func (p *answers) begin() {
	p.plain.Reset()
	p.count, p.bytes, p.traced = 0, 0, nil
}

// room counts so many bytes to the part, or to a new one when they are too many for it.
func (p *answers) room(size int, answer func(*pb.RunPart) error) error {
	if p.bytes+size > MaxPartSize {
		if err := answer(&pb.RunPart{Proposals: p.kept[:p.count], Plain: p.plain.Message(), Traced: p.traced}); err != nil {
			return FunctionError{err}
		}
		p.begin()
	}
	p.bytes += size
	return nil
}

// mostTraced is how many sampled tickets a part names: what they take is not counted to the part.
const mostTraced = 1024

// trace notes which tickets of a proposal are sampled.
func (p *answers) trace(tickets []uint32, s *pool.Selection) {
	for _, number := range tickets {
		if trace, sampled := s.Trace(number); sampled && len(p.traced) < mostTraced {
			p.sampled = true
			p.traced = append(p.traced, &pb.Traced{Ticket: s.ID(int(number)), Trace: []byte(trace)})
		}
	}
}

// concerned names some of the sampled tickets of a selection.
func concerned(s *pool.Selection) (some []*pb.Traced) {
	const enough = 8
	for number, trace := range s.Traces() {
		if some = append(some, &pb.Traced{Ticket: s.ID(int(number)), Trace: []byte(trace)}); len(some) == enough {
			break
		}
	}
	return some
}

// propose adds proposal i of an answer, which has nothing but tickets, with these ids, and a score.
func (p *answers) propose(a *block.Answer, i int, ids []string, oldest int64) {
	p.plain.Propose(a.Score(i), oldest)
	for t := range a.Teams(i) {
		p.plain.Team()
		n := len(a.Team(i, t))
		for _, id := range ids[:n] {
			p.plain.Ticket(id)
		}
		ids = ids[n:]
	}
}

// window is the ids of the next tickets of an answer. Tickets of a match are all over the memory, and each takes longer to
// be reached than to be copied: so those of many matches are reached for at the same time.
type window struct {
	ids  []string
	next int      // of ids
	rest []uint32 // the tickets behind ids
	sum  float64  // of what was touched, so that touching it is no waste of time for the compiler
}

// ahead is how many tickets are reached for at a time: enough to wait for together, and few enough to be still at hand when their turn comes.
const ahead = 64

// take returns the ids of the next n tickets; they are good until the next take.
func (w *window) take(n int, s *pool.Selection, created []float64) []string {
	if w.next+n > len(w.ids) {
		w.fill(max(n, ahead), s, created)
	}
	w.next += n
	return w.ids[w.next-n : w.next]
}

// fill moves the window on.
func (w *window) fill(n int, s *pool.Selection, created []float64) {
	w.ids = append(w.ids[:0], w.ids[w.next:]...)
	w.next = 0
	from := len(w.ids)
	more := w.rest[:min(n, len(w.rest))]
	w.rest = w.rest[len(more):]
	for _, number := range more {
		w.ids = append(w.ids, s.ID(int(number)))
		w.sum += created[number]
	}
	for _, id := range w.ids[from:] {
		if len(id) > 0 {
			w.sum += float64(id[0])
		}
	}
}

// fill makes m proposal i of an answer, and returns about how many bytes it takes.
func fill(m *pb.Proposal, a *block.Answer, i int, extras *block.Extras, s *pool.Selection) (size int) {
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

// decorate sets what few proposals have.
func decorate(m *pb.Proposal, e *block.Extras, s *pool.Selection) (size int) {
	m.TicketProperties, m.Hosting = nil, nil
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

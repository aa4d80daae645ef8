package invocation

import (
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
)

const (
	// PartSize is about how many bytes of proposals a part of an answer has. They take less than a millisecond to send,
	// and to read. A part may have one proposal that is larger.
	PartSize = 128 << 10
	// MaxProposalSize is about how many bytes a proposal may have: half of what one message on the bus carries.
	MaxProposalSize = 512 << 10
)

// restAfter is how long a run works on an answer without a rest.
const restAfter = time.Millisecond

// MaxTickets is how many tickets a proposal may have. One script claims all tickets of a match; it must not block Redis
// for long, and can pass on a few thousand values at most.
const MaxTickets = 1000

// What the proposals of a run may have in all, see limits. A function that proposes every ticket in a window of ten
// that moves ticket by ticket stays within: that makes one proposal for each ticket, which names ten. The director
// works through every proposal, so that four tickets in a million proposals would hold it up for all.
const (
	maxProposalsPerTicket = 2
	maxMentionsPerTicket  = 10
	// freeProposals is how many more proposals and mentions there may be: few tickets have many combinations.
	freeProposals = 1000
	// MaxAnswerSize is about how many bytes the proposals of a run may have. The proposals of 500,000 matches of two have
	// less.
	MaxAnswerSize = 64 << 20
)

// maxTraced is how many sampled tickets a part names. They are not counted in the part's size.
const maxTraced = 1024

// parts turns the answer of a function into the parts of the answer to a run. The next part uses the memory again: each
// one is marshalled when it was sent.
type parts struct {
	measurer measurer

	plain    proposals.Plain // proposals with nothing but tickets and a score
	extended []*pb.Proposal  // all others; the first count of them belong to the part
	count    int
	size     int // of the part, about, in bytes
	tickets  int // of the run
	block    int // size of the answer, in bytes
	sent     int // size of the parts before this one
	messages int // parts so far, this one included
	deadline deadline
	rest     func()       // Run.Rest
	rested   time.Time    // when it rested last
	traced   []*pb.Traced // sampled tickets of the part
	sampled  bool         // whether the answer has sampled tickets
}

// send sends an answer's proposals in parts of about PartSize, and puts the last part's into last. created are the
// times of creation of the selection, by number. What can be refused is refused before a part is sent.
func (p *parts) send(
	a *block.Answer, s *pool.Selection, b *backfills, created []float64, last *pb.RunPart, send func(*pb.RunPart) error,
) error {
	if err := p.check(a, s, b); err != nil {
		return FunctionError{err}
	}
	p.measurer.begin(a.AllTickets())
	for i := range a.Len() {
		tickets := a.Tickets(i)
		if s.Traced() > 0 {
			p.trace(tickets, s)
		}
		oldest := int64(created[slices.Min(tickets)]) // numbers ascend by creation
		var err error
		switch extras := a.Extras(i); {
		case extras == nil && !p.measurer.asked():
			err = p.addPlain(a, i, oldest, s, send)
		case extras == nil:
			err = p.addExtended(a, i, &block.Extras{}, s, b, oldest, send)
		default:
			err = p.addExtended(a, i, extras, s, b, oldest, send)
		}
		if err != nil {
			return FunctionError{err}
		}
	}
	last.Apart = true
	last.Proposals, last.Plain, last.Traced = p.extended[:p.count], p.plain.Message(), p.traced
	return nil
}

// check refuses an answer with too many proposals, or with too many tickets in one or in all.
func (p *parts) check(a *block.Answer, s *pool.Selection, b *backfills) error {
	all := p.tickets + len(b.list)
	for _, limit := range []struct {
		n, most int
		what    string
	}{
		{a.Len(), maxProposalsPerTicket*all + freeProposals, "proposals"},
		{len(a.AllTickets()), maxMentionsPerTicket*all + freeProposals, "tickets in its proposals"},
	} {
		if limit.n > limit.most {
			return fmt.Errorf("the answer has %d %s, at most %d are allowed for a run with %d tickets",
				limit.n, limit.what, limit.most, all)
		}
	}
	for i := range a.Len() {
		if n := len(a.Tickets(i)); n > MaxTickets {
			return fmt.Errorf("proposal %d has %d tickets, at most %d are allowed", i, n, MaxTickets)
		}
	}
	return p.checkSize(a, s, b)
}

// checkSize refuses an answer whose proposals would have more than MaxAnswerSize bytes.
func (p *parts) checkSize(a *block.Answer, s *pool.Selection, b *backfills) error {
	const perProposal, perTeam, perTicket, longID = 32, 8, 4, 64
	fixed := p.block + perProposal*a.Len() + perTicket*len(a.AllTickets()) +
		p.measurer.size(a.Len(), len(a.AllTickets()))
	for i := range a.Len() {
		fixed += perTeam * a.Teams(i)
	}
	fillings := 0
	if len(b.list) > 0 {
		fillings = a.Len()
	}
	if fixed+longID*len(a.AllTickets())+(MaxBackfillBytes+MaxBackfillNotes)*fillings <= MaxAnswerSize {
		return nil // most answers, without a look at each ticket
	}
	size := fixed
	for _, number := range a.AllTickets() {
		size += len(s.ID(int(number)))
	}
	for i := range fillings {
		if e := a.Extras(i); e != nil && e.Backfill != nil && !e.Backfill.Create {
			size += proto.Size(b.list[e.Backfill.Number])
		}
	}
	if size > MaxAnswerSize {
		return fmt.Errorf("the proposals of the answer have about %d bytes, at most %d are allowed", size, MaxAnswerSize)
	}
	return nil
}

// begin begins an answer.
func (p *parts) begin(r *Run) {
	p.block, p.sent, p.messages, p.sampled = 0, 0, 1, false
	p.deadline, p.rest, p.rested = deadline{r.Began, r.Deadline}, r.Rest, time.Now()
	p.measurer.report, p.measurer.index = r.Request.GetReport(), r.Index
	p.start()
}

// start starts a part.
func (p *parts) start() {
	p.plain.Reset()
	p.count, p.size, p.traced = 0, 0, nil
}

// reserve counts bytes to the part. When the part has no room for them it is sent, and a new one started.
func (p *parts) reserve(size int, send func(*pb.RunPart) error) error {
	if p.size > 0 && p.size+size > PartSize {
		if err := p.deadline.check("its proposals were sent"); err != nil {
			return err
		}
		part := &pb.RunPart{Apart: true, Proposals: p.extended[:p.count], Plain: p.plain.Message(), Traced: p.traced}
		if err := send(part); err != nil {
			return err
		}
		p.pause()
		p.sent += p.size
		p.messages++
		p.start()
	}
	p.size += size
	return nil
}

// pause lets others work while the run has more than half of its time left: on a busy machine rests are long.
func (p *parts) pause() {
	now := time.Now()
	if p.rest != nil && now.Sub(p.rested) >= restAfter && p.deadline.end.Sub(now) > now.Sub(p.deadline.began) {
		p.rest()
		p.rested = time.Now()
	}
}

// trace notes which tickets of a proposal are sampled.
func (p *parts) trace(tickets []uint32, s *pool.Selection) {
	for _, number := range tickets {
		if trace, sampled := s.Trace(number); sampled && len(p.traced) < maxTraced {
			p.sampled = true
			p.traced = append(p.traced, &pb.Traced{Ticket: s.ID(int(number)), Trace: []byte(trace)})
		}
	}
}

// sampledTickets names some of the sampled tickets of a selection.
func sampledTickets(s *pool.Selection) (some []*pb.Traced) {
	const enough = 8
	for number, trace := range s.Traces() {
		if some = append(some, &pb.Traced{Ticket: s.ID(int(number)), Trace: []byte(trace)}); len(some) == enough {
			break
		}
	}
	return some
}

// addPlain adds proposal i of an answer, which has nothing but tickets and a score.
func (p *parts) addPlain(
	a *block.Answer, i int, oldest int64, s *pool.Selection, send func(*pb.RunPart) error,
) error {
	size := 16 + 2*a.Teams(i)
	for _, number := range a.Tickets(i) {
		size += 2 + len(s.ID(int(number)))
	}
	if err := p.reserve(size, send); err != nil {
		return err
	}
	p.plain.Propose(a.Score(i), oldest)
	if s.AnyShared() && slices.ContainsFunc(a.Tickets(i), s.Shared) {
		p.plain.Compare()
	}
	if n := s.PlayersOf(a.Tickets(i)); n > 0 {
		p.plain.Players(n)
	}
	for t := range a.Teams(i) {
		p.plain.Team()
		for _, number := range a.Team(i, t) {
			p.plain.Ticket(s.ID(int(number)))
		}
	}
	return nil
}

// addExtended adds proposal i of an answer, which has extras, or is measured.
func (p *parts) addExtended(
	a *block.Answer, i int, extras *block.Extras, s *pool.Selection, b *backfills, oldest int64,
	send func(*pb.RunPart) error,
) error {
	if p.count == len(p.extended) {
		p.extended = append(p.extended, &pb.Proposal{})
	}
	at := p.count
	m := p.extended[at]
	m.Score, m.Oldest = a.Score(i), oldest
	m.Compare = s.AnyShared() && slices.ContainsFunc(a.Tickets(i), s.Shared)
	m.Players = int32(s.PlayersOf(a.Tickets(i)))
	m.Measures = p.measurer.of(a, i, extras.Measures, s)
	size := setTeams(m, a, i, s) + setExtras(m, extras, s) + p.measurer.size(1, len(a.Tickets(i)))
	filling, more, err := b.filling(extras)
	if err != nil {
		return fmt.Errorf("proposal %d %w", i, err)
	}
	m.Filling = filling
	if size += more; size > MaxProposalSize {
		return fmt.Errorf("proposal %d has about %d bytes, more than the %d that a proposal may have", i, size,
			MaxProposalSize)
	}
	if err := p.reserve(size, send); err != nil {
		return err
	}
	// After reserve started a part, m belongs at its beginning.
	p.extended[at], p.extended[p.count] = p.extended[p.count], m
	p.count++
	return nil
}

// setTeams sets the teams of m from proposal i, and returns about how many bytes they take.
func setTeams(m *pb.Proposal, a *block.Answer, i int, s *pool.Selection) (size int) {
	size = 32
	n := a.Teams(i)
	for len(m.Teams) < n {
		m.Teams = append(m.Teams, &pb.Team{})
	}
	m.Teams = m.Teams[:n]
	for t, team := range m.Teams {
		team.Name, team.Tickets = "", team.Tickets[:0]
		size += 8
		for _, number := range a.Team(i, t) {
			id := s.ID(int(number))
			team.Tickets = append(team.Tickets, id)
			size += len(id) + 4
		}
	}
	return size
}

// setExtras sets what few proposals have, and returns about how many bytes that takes.
func setExtras(m *pb.Proposal, e *block.Extras, s *pool.Selection) (size int) {
	m.TicketProperties, m.Hosting = nil, nil
	m.Connection, m.Error = e.Connection, e.Error
	m.AssignmentProperties, m.MatchProperties = e.AssignmentProperties, e.MatchProperties
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
	for _, one := range e.Measures {
		size += len(one.Name) + measureSize
	}
	return size
}

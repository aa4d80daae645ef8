package checker

import (
	"cmp"
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// proposals looks how long tickets were proposed to running games, and returns how many were.
func (m *model) proposals(p *Promise) (count int) {
	limit := m.h.Terms.Approval + m.h.Terms.Recovery
	for _, t := range m.ordered() {
		var since *history.Event
		for _, e := range t.events {
			switch {
			case e.Kind == history.Proposed:
				count++
				since = e
			case since != nil:
				if taken := m.took(since, e); taken > limit {
					p.broken("%s: ticket %s was proposed to backfill ticket %s, and %s only %v later, faults left out; the limit is %v",
						t.project, t.id, since.Backfill, e.Kind, taken, limit)
				}
				since = nil
			}
		}
	}
	return count
}

// server is a running game's side of its backfill ticket.
type server struct {
	ticket string
	// rounds are what it asked for, in order: it asks for one thing at a time.
	rounds []*history.Round
}

// backfills is promise 8: who joins a game was proposed to the version that the game's ticket had then.
func backfills(m *model, p *Promise, _ *Sums) {
	servers := map[string]*server{} // by project and connection
	counts := map[history.Op]int{}
	for i := range m.h.Rounds {
		r := &m.h.Rounds[i]
		key := r.Project + " " + r.Connection
		if servers[key] == nil {
			servers[key] = new(server)
		}
		servers[key].rounds = append(servers[key].rounds, r)
		if r.Status/100 == 2 {
			counts[r.Op]++
			servers[key].ticket = cmp.Or(r.Backfill, servers[key].ticket)
		}
	}
	for _, s := range servers {
		slices.SortStableFunc(s.rounds, func(a, b *history.Round) int { return cmp.Compare(a.From, b.From) })
	}
	var joined, heard int
	for _, t := range m.ordered() {
		told := t.told()
		if told == nil {
			continue
		}
		made, ok := properties(told.Assignment)
		if !ok || made.Backfill == "" {
			continue
		}
		joined++
		if told.Assignment.Connection != made.Backfill {
			p.broken("%s: ticket %s was proposed to the game at %s, but told %s", t.project, t.id, made.Backfill, told.Assignment.Connection)
		}
		s := servers[t.project+" "+made.Backfill]
		if s == nil {
			p.broken("%s: ticket %s was told %s, where no game is", t.project, t.id, made.Backfill)
			continue
		}
		if s.check(p, t, made.Version) {
			heard++
		}
	}
	heardOf(m, p)
	p.tried("backfill tickets created", counts[history.Create])
	p.tried("approvals answered", counts[history.Approve])
	p.tried("changes of a backfill ticket", counts[history.Put])
	p.tried("tickets that joined a running game", joined)
	p.tried("of these, heard of by its server", heard)
}

// check holds the version that a ticket was proposed to against those that the backfill ticket can have had when its server approved. It is false
// when the server never learnt of the ticket.
func (s *server) check(p *Promise, t *ticket, version int64) bool {
	// The approval that told of it first. The assignment may be that of one before it whose answer was lost.
	n := slices.IndexFunc(s.rounds, func(r *history.Round) bool { return slices.Contains(r.Tickets, t.id) })
	if n < 0 {
		return false
	}
	first := n
	for i := n - 1; i >= 0; i-- {
		if r := s.rounds[i]; r.Op == history.Approve {
			if r.Status/100 == 2 {
				break
			}
			first = i
		}
	}
	least, most := int64(1), int64(1)
	for i, r := range s.rounds[:n] {
		if r.Op != history.Put {
			continue
		}
		most++ // also one without an answer, whose effect may come late
		if i < first && r.Status/100 == 2 {
			least++
		}
	}
	if version < least || version > most {
		p.broken("%s: ticket %s was proposed to version %d of backfill ticket %s, and assigned by an approval when it had one from %d to %d",
			t.project, t.id, version, s.ticket, least, most)
	}
	return true
}

// heardOf looks whether what servers were told of who joined is true.
func heardOf(m *model, p *Promise) {
	for _, r := range m.h.Rounds {
		for _, id := range r.Tickets {
			t := m.tickets[id]
			if t == nil {
				continue // its creation was never answered
			}
			if told := t.told(); told != nil && told.Assignment.Connection != r.Connection {
				p.broken("%s: the server at %s was told that ticket %s has joined, which was told %s", r.Project, r.Connection, id, told.Assignment.Connection)
			}
			if !assignedTo(t, r.Backfill) {
				p.broken("%s: the server at %s was told that ticket %s has joined, which the event log does not say", r.Project, r.Connection, id)
			}
		}
	}
}

// assignedTo tells whether the event log has the ticket assigned to a backfill ticket.
func assignedTo(t *ticket, backfill string) bool {
	return slices.ContainsFunc(t.events, func(e *history.Event) bool { return e.Kind == history.Assigned && e.Backfill == backfill })
}

package checker

import "matchmaker.dev/services/test/chaos/history"

// once checks promise 2: what a ticket's player was told never changes, and no two matches have the same server. The
// replay of the event log checks it too.
func once(m *model, p *Promise, s *Sums) {
	var results, again int
	matches := map[string]*match{} // by project and connection
	for _, t := range m.ticketsByID() {
		first := t.result()
		if first == nil || m.isShakenTicket(t.id) {
			continue
		}
		results++
		for _, c := range t.callsOf(history.Get) {
			if c.From <= first.To || c.Status != 200 {
				continue
			}
			again++
			if c.Assignment == nil {
				p.fail("%s: ticket %s had a result at %s and none at %s", t.project, t.id, clock(first.To), clock(c.From))
			} else if !equal(c.Assignment, first.Assignment) {
				m.doubled[t.id] = struct{}{}
				p.fail("%s: ticket %s was told %s at %s and %s at %s", t.project, t.id,
					first.Assignment.Connection, clock(first.To), c.Assignment.Connection, clock(c.To))
			}
		}
		if one := m.matchOf(t); one != nil && !one.joins() && first.Assignment.Connection != "" {
			key := t.project + " " + first.Assignment.Connection
			if other := matches[key]; other != nil && other != one {
				p.fail("%s: matches %s and %s are both at %s", t.project, one.id, other.id, first.Assignment.Connection)
			}
			matches[key] = one
		}
	}
	for _, one := range m.matchesByID() {
		seen := map[string]string{}
		for _, id := range one.tickets {
			if t := m.tickets[id]; t != nil && t.made.Party == "" {
				if other := seen[player(t.made)]; other != "" {
					p.fail("%s: match %s has tickets %s and %s of %s", one.project, one.id, other, id, player(t.made))
				}
				seen[player(t.made)] = id
			}
		}
	}
	var claims, leaders int
	for _, log := range m.logs {
		epochs := map[uint64]struct{}{}
		for _, e := range log {
			if m.takes(e) {
				claims += len(e.Tickets)
				epochs[e.Epoch] = struct{}{}
			}
		}
		leaders += len(epochs)
	}
	s.Doubled = len(m.doubled)
	p.count("tickets with a result", results)
	p.count("results read again", again)
	p.count("claims of a ticket", claims)
	p.count("leases of directors", leaders)
}

// equal reports whether two results are the same.
func equal(a, b *history.Assignment) bool {
	return a.Connection == b.Connection && a.Error == b.Error && string(a.Match) == string(b.Match) &&
		string(a.Own) == string(b.Own)
}

package checker

import (
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// together checks promise 3: the players of a match were told the same. The replay of the event log checks it too.
func together(m *model, p *Promise, _ *Sums) {
	var assigned, dropped, smaller int
	for _, one := range m.matchesByID() {
		if one.ended == nil || m.isShakenMatch(one.id) {
			continue
		}
		if one.ended.Kind == history.Released && one.ended.Reason == "left" {
			dropped++
		}
		if one.ended.Kind != history.Assigned {
			continue
		}
		assigned++
		if len(one.ended.Tickets) < len(one.tickets) {
			smaller++
		}
		m.sameForAll(p, one)
	}
	p.count("matches assigned", assigned)
	p.count("of these, without a player who had left", smaller)
	p.count("matches dropped because a player had left in time", dropped)
}

// sameForAll checks what the players of one match were told.
func (m *model) sameForAll(p *Promise, one *match) {
	var first *history.Call // the earliest result
	for _, id := range one.ended.Tickets {
		if t := m.tickets[id]; t != nil && !m.isShakenTicket(id) {
			if c := t.result(); c != nil && (first == nil || c.To < first.To) {
				first = c
			}
		}
	}
	if first == nil {
		return
	}
	for _, id := range one.ended.Tickets {
		t := m.tickets[id]
		if t == nil || m.isShakenTicket(id) {
			continue // its creation was never answered, or a failover may have undone its result
		}
		for _, c := range t.callsOf(history.Get) {
			switch a, f := c.Assignment, first.Assignment; {
			case c.Status != 200:
			case a == nil && c.From > first.To:
				p.fail("%s: match %s: ticket %s had no result at %s, but ticket %s had one at %s",
					t.project, one.id, t.id, clock(c.From), first.Ticket, clock(first.To))
			case a != nil && (a.Connection != f.Connection || string(a.Match) != string(f.Match)):
				p.fail("%s: match %s: ticket %s was told %s %s, but ticket %s %s %s",
					t.project, one.id, t.id, a.Connection, a.Match, first.Ticket, f.Connection, f.Match)
			}
		}
		if made, ok := properties(first.Assignment); ok && !slices.Contains(made.Players, t.number) {
			p.fail("%s: match %s: ticket %s is player %d, but the match properties list %v",
				t.project, one.id, t.id, t.number, made.Players)
		}
	}
}

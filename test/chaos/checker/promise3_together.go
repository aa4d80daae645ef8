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
	passes := 0
	for _, t := range m.ticketsByID() {
		passes += m.checkSeats(p, t)
	}
	p.count("seat passes", passes)
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
		if made, ok := properties(first.Assignment); ok && !one.joins() && !slices.Contains(made.Players, t.number) {
			p.fail("%s: match %s: ticket %s is player %d, but the match properties list %v",
				t.project, one.id, t.id, t.number, made.Players)
		}
	}
}

// checkSeats checks that the players of a ticket have seat passes, if its config wants that, each of which is for its
// match or running game, and its server. It returns how many they are.
func (m *model) checkSeats(p *Promise, t *ticket) int {
	c := t.result()
	if c == nil || c.Assignment.Error != "" || m.isShakenTicket(t.id) {
		return 0
	}
	var names []string
	if made, ok := properties(c.Assignment); ok && made.Settings.Seats {
		if names = t.made.Players; len(names) == 0 {
			names = []string{player(t.made)}
		}
	}
	if len(c.Assignment.Seats) != len(names) {
		p.fail("%s: ticket %s has %d seat passes for %d players", t.project, t.id, len(c.Assignment.Seats), len(names))
	}
	for _, name := range names {
		want, got := history.Seat{Player: name, Project: t.project, Ticket: t.id, Connection: c.Assignment.Connection},
			c.Assignment.Seats[name]
		for _, e := range t.events {
			if e.Kind == history.Assigned && e.Backfill == "" {
				want.Match = e.Match
			} else if e.Kind == history.Assigned { // joined with another match than the server's
				want.Match, want.Backfill = got.Match, e.Backfill
			}
		}
		if got != want || got.Match == "" {
			p.fail("%s: ticket %s: the seat pass of %s is %+v, want %+v", t.project, t.id, name, got, want)
		}
	}
	return len(names)
}

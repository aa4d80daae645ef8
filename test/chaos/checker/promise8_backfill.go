package checker

import (
	"cmp"
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// game is a running game's side of its backfill ticket.
type game struct {
	ticket string
	rounds []*history.Round // its requests in order; it makes one at a time
}

// backfills checks promise 8: a ticket that joins a game was proposed to the version that its backfill ticket had then.
func backfills(m *model, p *Promise, _ *Sums) {
	games, counts := m.games()
	var joined, confirmed int
	for _, t := range m.ticketsByID() {
		c := t.result()
		if c == nil || m.isShakenTicket(t.id) {
			continue
		}
		made, ok := properties(c.Assignment)
		if !ok || made.Backfill == "" {
			continue
		}
		joined++
		if c.Assignment.Connection != made.Backfill {
			p.fail("%s: ticket %s was proposed to the game at %s, but told %s", t.project, t.id, made.Backfill,
				c.Assignment.Connection)
		}
		g := games[t.project+" "+made.Backfill]
		if g == nil {
			p.fail("%s: ticket %s was told %s, where no game is", t.project, t.id, made.Backfill)
			continue
		}
		if !m.isShakenBackfill(g.ticket) && m.checkVersion(p, g, t, made.Version) {
			confirmed++
		}
	}
	m.joinsAreTrue(p)
	with := 0
	for _, g := range games {
		if g.rounds[0].Op != history.Create {
			with++
		}
	}
	p.count("backfill tickets created", counts[history.Create])
	p.count("backfill tickets created with a match", with)
	p.count("approvals answered", counts[history.Approve])
	p.count("changes of a backfill ticket", counts[history.Put])
	p.count("tickets that joined a running game", joined)
	p.count("of these, confirmed to the game", confirmed)
}

// games collects the games by project and connection, and counts their requests that were answered with success.
func (m *model) games() (games map[string]*game, counts map[history.Op]int) {
	games, counts = map[string]*game{}, map[history.Op]int{}
	for i := range m.h.Rounds {
		r := &m.h.Rounds[i]
		key := r.Project + " " + r.Connection
		if games[key] == nil {
			games[key] = new(game)
		}
		games[key].rounds = append(games[key].rounds, r)
		if r.Status/100 == 2 {
			counts[r.Op]++
			games[key].ticket = cmp.Or(r.Backfill, games[key].ticket)
		}
	}
	for _, g := range games {
		slices.SortStableFunc(g.rounds, func(a, b *history.Round) int { return cmp.Compare(a.From, b.From) })
	}
	return games, counts
}

// checkVersion checks the version that a ticket was proposed to: the backfill ticket can have had it when the game
// approved. It returns false when no answer told the game of the ticket.
func (m *model) checkVersion(p *Promise, g *game, t *ticket, version int64) bool {
	// n is the approval whose answer first named the ticket. An earlier one whose answer was lost may have assigned it.
	n := slices.IndexFunc(g.rounds, func(r *history.Round) bool { return slices.Contains(r.Tickets, t.id) })
	if n < 0 {
		return false
	}
	first := n
	for i := n - 1; i >= 0; i-- {
		if r := g.rounds[i]; r.Op == history.Approve {
			if r.Status/100 == 2 {
				break
			}
			first = i
		}
	}
	least, most := int64(1), int64(1)
	if g.rounds[0].Op != history.Create { // it was created with its match, and got its connection later
		most++
	}
	for i, r := range g.rounds[:n] {
		if r.Op != history.Put {
			continue
		}
		most++ // a PUT without an answer may take effect late
		if i < first && r.Status/100 == 2 {
			least++
		}
	}
	if m.waitedForServer(t) { // it joined when the game got its connection, and not by the approval
		least = 1
	}
	if version < least || version > most {
		p.fail("%s: ticket %s was proposed to version %d of backfill ticket %s, but approved at a version from %d to %d",
			t.project, t.id, version, g.ticket, least, most)
	}
	return true
}

// waitedForServer reports whether a ticket went to a game before that had its server.
func (m *model) waitedForServer(t *ticket) bool {
	joined := m.matchOf(t)
	if joined == nil || joined.first == nil {
		return false
	}
	for _, one := range m.matches {
		if one.first != nil && one.ended != nil && !one.joins() && one.first.Backfill == joined.first.Backfill &&
			one.project == joined.project && joined.first.Position < one.ended.Position {
			return true
		}
	}
	return false
}

// joinsAreTrue checks the tickets of which games were told that they have joined.
func (m *model) joinsAreTrue(p *Promise) {
	for _, r := range m.h.Rounds {
		for _, id := range r.Tickets {
			t := m.tickets[id]
			if t == nil || m.isShakenTicket(id) {
				continue // its creation was never answered, or a failover may have undone it
			}
			if slices.Contains(r.Players, player(t.made)) && t.made.Party == "" {
				p.fail("%s: ticket %s of %s joined the game at %s, where that player is", r.Project, id, player(t.made),
					r.Connection)
			}
			if c := t.result(); c != nil && c.Assignment.Connection != r.Connection {
				p.fail("%s: the game at %s was told that ticket %s has joined, which was told %s",
					r.Project, r.Connection, id, c.Assignment.Connection)
			}
			if !slices.ContainsFunc(t.events, func(e *history.Event) bool {
				return e.Kind == history.Assigned && e.Backfill == r.Backfill
			}) {
				p.fail("%s: the game at %s was told that ticket %s has joined, which the event log does not say",
					r.Project, r.Connection, id)
			}
		}
	}
}

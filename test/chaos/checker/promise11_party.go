package checker

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// Each answer about a party says which revision of it it shows. So the answers put its changes in order, whenever they
// came.

// edition is one revision of a party.
type edition struct {
	*history.Step // the first answer that shows it
	// since is when the first answer had come, until when the last one was asked for: in between the party was so.
	since, until history.Moment
}

// party is what its members saw of it.
type party struct {
	id, project string
	// steps are the requests about it, in the order in which they were sent.
	steps    []*history.Step
	editions []*edition // in their order
}

// stay is a time in which a player surely was in a party.
type stay struct {
	party        string
	since, until history.Moment
}

// partiesHold checks promise 11.
func partiesHold(m *model, p *Promise, _ *Sums) {
	changes := map[string]int{}
	stays := map[string][]stay{}
	searches := m.searches()
	all := m.parties()
	for _, q := range all {
		q.collect(p)
		for i, e := range q.editions {
			if i > 0 && q.editions[i-1].Revision == e.Revision-1 {
				changes["seen"]++
				m.checkChange(p, q, q.editions[i-1], e, changes)
			}
		}
		q.checkKicks(p)
		m.checkSearches(p, q, searches[q.id], changes)
		q.addStays(stays)
	}
	for _, player := range slices.Sorted(maps.Keys(stays)) {
		checkStays(p, player, stays[player])
	}
	p.count("parties", len(all))
	p.count("changes of parties", changes["seen"])
	p.count("members who joined", changes["joined"])
	p.count("members who left", changes["left"])
	p.count("members who were kicked", changes["kicked"])
	p.count("members who left since they were silent", changes["silent"])
	p.count("leaders who were followed by the oldest member", changes["followed"])
	p.count("leaders who handed over", changes["handed over"])
	p.count("searches of parties", changes["searches"])
	p.count("of these, with a result", changes["results"])
	p.count("of these, cancelled", changes["cancelled"])
}

// parties lists the parties of which nothing can be lost, by their ids.
func (m *model) parties() (all []*party) {
	byID := map[string]*party{}
	for i := range m.h.Steps {
		s := &m.h.Steps[i]
		if s.Party == "" {
			continue
		}
		q := byID[s.Party]
		if q == nil {
			q = &party{id: s.Party, project: s.Project}
			byID[s.Party] = q
		}
		q.steps = append(q.steps, s)
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		q := byID[id]
		slices.SortStableFunc(q.steps, func(a, b *history.Step) int { return cmp.Compare(a.From, b.From) })
		life := q.steps[0].Span
		for _, s := range q.steps {
			life.To = max(life.To, s.To)
		}
		if !m.lost(q.project, life) {
			all = append(all, q)
		}
	}
	return all
}

// collect puts the editions of a party in order. Answers that show the same one must agree.
func (q *party) collect(p *Promise) {
	byRevision := map[int64]*edition{}
	for _, s := range q.steps {
		if s.Revision == 0 {
			continue
		}
		e := byRevision[s.Revision]
		if e == nil {
			e = &edition{Step: s, since: s.To, until: s.From}
			byRevision[s.Revision] = e
			q.editions = append(q.editions, e)
		}
		e.since, e.until = min(e.since, s.To), max(e.until, s.From)
		if e.Leader != s.Leader || e.Ticket != s.Ticket || !slices.Equal(e.Members, s.Members) ||
			!slices.Equal(e.Unready, s.Unready) {
			p.fail("%s: party %s is told differently at its revision %d: to %s at %s and to %s at %s", q.project, q.id,
				s.Revision, e.Player, clock(e.To), s.Player, clock(s.To))
		}
	}
	slices.SortFunc(q.editions, func(a, b *edition) int { return cmp.Compare(a.Revision, b.Revision) })
}

// asked reports whether a request that may have been carried out was sent before the party was seen so.
func (q *party) asked(e *edition, is func(s *history.Step) bool) bool {
	return slices.ContainsFunc(q.steps, func(s *history.Step) bool {
		return s.From <= e.since && mayBeDone(s) && is(s)
	})
}

// mayBeDone reports whether a request may have been carried out: it was not refused.
func mayBeDone(s *history.Step) bool { return s.Status < 400 || s.Status >= 500 }

// checkChange checks joins, leaves and the leader, from one edition to the next.
func (m *model) checkChange(p *Promise, q *party, a, b *edition, changes map[string]int) {
	var stayed, joined []string
	for _, player := range b.Members {
		if slices.Contains(a.Members, player) {
			stayed = append(stayed, player)
		} else {
			joined = append(joined, player)
		}
	}
	for _, player := range joined {
		changes["joined"]++
		if !m.joins(q, b, player) {
			p.fail("%s: party %s has the member %s at its revision %d, who did not ask to join", q.project, q.id, player,
				b.Revision)
		}
	}
	var old []string
	for _, player := range a.Members {
		if slices.Contains(stayed, player) {
			old = append(old, player)
		} else {
			m.checkLeft(p, q, a, b, player, changes)
		}
	}
	if !slices.Equal(b.Members, slices.Concat(old, joined)) {
		p.fail("%s: party %s has its members in another order at its revision %d", q.project, q.id, b.Revision)
	}
	switch {
	case b.Leader == a.Leader:
	case !slices.Contains(b.Members, a.Leader):
		changes["followed"]++
		if len(b.Members) > 0 && b.Leader != b.Members[0] {
			p.fail("%s: party %s lost its leader %s, and %s follows at its revision %d: the oldest member is %s", q.project,
				q.id, a.Leader, b.Leader, b.Revision, b.Members[0])
		}
	default:
		changes["handed over"]++
		if !q.asked(b, func(s *history.Step) bool {
			return s.Op == history.HandOver && s.Player == a.Leader && s.Other == b.Leader
		}) {
			p.fail("%s: party %s is led by %s at its revision %d, and %s did not hand over", q.project, q.id, b.Leader,
				b.Revision, a.Leader)
		}
	}
}

// joins reports whether a player asked to join a party. A request that has no answer may have been for any.
func (m *model) joins(q *party, e *edition, player string) bool {
	return slices.ContainsFunc(m.h.Steps, func(s history.Step) bool {
		return s.Player == player && s.Project == q.project && (s.Op == history.Join || s.Op == history.Create) &&
			s.From <= e.since && (s.Party == "" || s.Party == q.id) && mayBeDone(&s)
	})
}

// checkLeft checks why a player is no member any more: by its own will, the leader's, or since it was silent.
func (m *model) checkLeft(p *Promise, q *party, a, b *edition, player string, changes map[string]int) {
	switch {
	case q.asked(b, func(s *history.Step) bool { return s.Op == history.Leave && s.Player == player }):
		changes["left"]++
		return
	case q.asked(b, func(s *history.Step) bool {
		return s.Op == history.Kick && s.Other == player && s.Player == a.Leader
	}):
		changes["kicked"]++
		return
	}
	changes["silent"]++
	patience := m.patience()
	for _, s := range q.steps {
		if s.Player == player && s.Status > 0 && s.Status < 400 && s.To <= a.until && s.From > b.since-patience {
			p.fail("%s: party %s is without %s at its revision %d, who had asked for it at %s", q.project, q.id, player,
				b.Revision, clock(s.From))
			return
		}
	}
}

// patience is for how long a member is surely heard: what is heard is noted at most every eighth of the time.
func (m *model) patience() history.Moment {
	return history.Moment((m.h.Terms.Silence - m.h.Terms.Silence/8).Microseconds())
}

// clockError is how much earlier an event may say that it was than its request was sent: processes know Redis's clock
// about so well.
const clockError = 250 * time.Millisecond

// hasCause reports whether a search that was cancelled had a cause: a request may have asked for it, or for what makes
// the members others, or one of its players was silent. What was refused is no cause.
func (m *model) hasCause(q *party, t *ticket, e *history.Event) bool {
	cancelled := history.Moment(e.Time * 1000)
	during := func(s history.Span, status int) bool {
		// What has no answer may be carried out at any time.
		return s.From <= cancelled+history.Moment(clockError.Microseconds()) &&
			(status == 0 || status >= 500 || s.To >= cancelled)
	}
	if slices.ContainsFunc(m.h.Steps, func(s history.Step) bool {
		return s.Project == q.project && (s.Party == q.id || s.Party == "" && s.Op == history.Join) && mayBeDone(&s) &&
			slices.Contains(endingSearches, s.Op) && during(s.Span, s.Status)
	}) {
		return true
	}
	if slices.ContainsFunc(t.callsOf(history.Delete), func(c *history.Call) bool { return during(c.Span, c.Status) }) {
		return true
	}
	return slices.ContainsFunc(t.made.Players, func(player string) bool {
		return !slices.ContainsFunc(q.steps, func(s *history.Step) bool {
			return s.Player == player && s.Status > 0 && s.Status < 400 && s.To <= cancelled &&
				s.From > cancelled-m.patience()
		})
	})
}

// endingSearches are what ends the search of a party.
var endingSearches = []history.Op{
	history.Stop, history.Join, history.Leave, history.Kick, history.Disband,
}

// checkKicks checks that kicked players stay out.
func (q *party) checkKicks(p *Promise) {
	for _, s := range q.steps {
		if s.Op != history.Kick || s.Status != 200 {
			continue
		}
		for _, e := range q.editions {
			if e.Revision >= s.Revision && slices.Contains(e.Members, s.Other) {
				p.fail("%s: party %s has the member %s at its revision %d, who was kicked with revision %d", q.project, q.id,
					s.Other, e.Revision, s.Revision)
			}
		}
	}
}

// searches are the tickets of each party, in the order of the event log.
func (m *model) searches() map[string][]*ticket {
	all := map[string][]*ticket{}
	for _, t := range m.ticketsByID() {
		if t.made.Party != "" && len(t.events) > 0 {
			all[t.made.Party] = append(all[t.made.Party], t)
		}
	}
	for _, tickets := range all {
		slices.SortFunc(tickets, func(a, b *ticket) int { return cmp.Compare(a.events[0].Position, b.events[0].Position) })
	}
	return all
}

// checkSearches checks the tickets of a party: each has exactly the members, all ready, one at a time, and none is
// matched after one of its members has left.
func (m *model) checkSearches(p *Promise, q *party, tickets []*ticket, changes map[string]int) {
	of := map[string]*edition{}
	for i, e := range q.editions {
		if e.Ticket == "" {
			continue
		}
		first := of[e.Ticket]
		if first == nil {
			first, of[e.Ticket] = e, e
			if i > 0 && q.editions[i-1].Revision == e.Revision-1 && len(e.Unready) > 0 {
				p.fail("%s: party %s searches with ticket %s, and %v is not ready", q.project, q.id, e.Ticket, e.Unready)
			}
			if t := m.tickets[e.Ticket]; t != nil && !slices.Equal(t.made.Players, e.Members) {
				p.fail("%s: ticket %s has the players %v, and party %s the members %v", q.project, e.Ticket, t.made.Players,
					q.id, e.Members)
			}
		}
		if !slices.Equal(first.Members, e.Members) {
			p.fail("%s: party %s searches with ticket %s at its revision %d, and has other members since", q.project, q.id,
				e.Ticket, e.Revision)
		}
	}
	for i, t := range tickets {
		changes["searches"]++
		for _, e := range t.events {
			if e.Kind != history.Cancelled {
				continue
			}
			if changes["cancelled"]++; !m.hasCause(q, t, e) {
				p.fail("%s: the search of party %s with ticket %s was cancelled at %s, and nobody asked for that or was silent",
					q.project, q.id, t.id, clock(history.Moment(e.Time*1000)))
			}
		}
		if t.result() != nil {
			changes["results"]++
		}
		if i > 0 && !tickets[i-1].endsBefore(t.events[0].Position) {
			p.fail("%s: party %s searches with ticket %s while %s waits", q.project, q.id, t.id, tickets[i-1].id)
		}
		for _, s := range q.steps {
			if endsSearch(s, t.made.Players) && t.made.From < s.From {
				m.checkStopped(p, t, s.To)
			}
		}
		for _, e := range q.editions {
			if first := of[t.id]; first != nil && e.Revision > first.Revision && e.Ticket != t.id {
				m.checkStopped(p, t, e.since)
				break
			}
		}
	}
}

// endsBefore reports whether the ticket has ended, or has a result, by a position of the event log.
func (t *ticket) endsBefore(position uint64) bool {
	return slices.ContainsFunc(t.events, func(e *history.Event) bool {
		switch e.Kind {
		case history.Cancelled, history.Assigned, history.Failed, history.Expired:
			return e.Position <= position
		default:
			return false
		}
	})
}

// endsSearch reports whether an answer says that one of some players left the party, or that it ended.
func endsSearch(s *history.Step, players []string) bool {
	switch s.Op {
	case history.Leave:
		return s.Status == 204 && slices.Contains(players, s.Player)
	case history.Kick:
		return s.Status == 200 && slices.Contains(players, s.Other)
	default:
		return s.Op == history.Disband && s.Status == 204
	}
}

// checkStopped checks that a ticket is in no match that was made after an answer that tells that its search is over.
func (m *model) checkStopped(p *Promise, t *ticket, over history.Moment) {
	for _, e := range t.events {
		if m.takes(e) && e.Time > over.Millis() {
			p.fail("%s: ticket %s is in match %q since %s, and its search was over at %s", t.project, t.id, e.Match,
				clock(history.Moment(e.Time*1000)), clock(over))
		}
	}
}

// addStays adds the times in which players surely were in a party.
func (q *party) addStays(stays map[string][]stay) {
	open := map[string]stay{}
	end := func(player string) {
		if one := open[player]; one.since < one.until {
			stays[q.project+" "+player] = append(stays[q.project+" "+player], one)
		}
		delete(open, player)
	}
	for i, e := range q.editions {
		for _, player := range slices.Sorted(maps.Keys(open)) {
			if q.editions[i-1].Revision != e.Revision-1 || !slices.Contains(e.Members, player) {
				end(player)
			}
		}
		for _, player := range e.Members {
			one, is := open[player]
			if !is {
				one = stay{party: q.id, since: e.since}
			}
			one.until = max(one.until, e.until)
			open[player] = one
		}
	}
	for _, player := range slices.Sorted(maps.Keys(open)) {
		end(player)
	}
}

// checkStays checks that a player is in one party at a time.
func checkStays(p *Promise, player string, all []stay) {
	slices.SortFunc(all, func(a, b stay) int { return cmp.Compare(a.since, b.since) })
	var last stay
	for _, one := range all {
		if last.party != "" && one.party != last.party && one.since < last.until {
			p.fail("%s is in party %s and in party %s at %s", player, last.party, one.party, clock(one.since))
		}
		if one.until > last.until {
			last = one
		}
	}
}

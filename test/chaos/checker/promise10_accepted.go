package checker

import (
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/schedule"
)

// asks reports whether a match asks its players.
func (one *match) asks() bool { return one.first != nil && one.first.Acceptance > 0 }

// answered notes what a player says to a match.
func (r *replay) answered(e *history.Event) {
	one := r.match(e.Project, e.Match)
	switch {
	case !one.asks():
		r.fail(10, e, "the match asks nobody")
		return
	case one.begun != nil || one.ended != nil:
		r.fail(10, e, "the acceptance was over")
	}
	for _, id := range e.Tickets {
		if s := r.status[id]; s == nil || s.state != claimed || s.match != one {
			r.fail(10, e, "ticket %s is not in the match", id)
		}
		if one.answers == nil {
			one.answers = map[string]map[int64]history.Kind{}
		}
		if one.answers[id] == nil {
			one.answers[id] = map[int64]history.Kind{}
		}
		one.answers[id][e.Player] = e.Kind
	}
}

// answer is what the players of a ticket said to a match: that one declined, or that all of them accepted; "" if
// neither.
func (m *model) answer(one *match, id string) history.Kind {
	players := 1
	if t := m.tickets[id]; t != nil {
		players = max(1, len(t.made.Players))
	}
	accepted := 0
	for _, said := range one.answers[id] {
		if said == history.Declined {
			return said
		}
		accepted++
	}
	if accepted < players {
		return ""
	}
	return history.Accepted
}

// checkAccepted checks that all players of a match accepted, of which an event says that it goes on.
func (r *replay) checkAccepted(e *history.Event, one *match) {
	if !one.asks() {
		return
	}
	for _, id := range one.tickets {
		if r.answer(one, id) != history.Accepted {
			r.fail(10, e, "the match goes on though a player of ticket %s did not accept", id)
		}
	}
}

// unaccepted ends tickets of a match that asks its players.
func (r *replay) unaccepted(e *history.Event) {
	one := r.match(e.Project, e.Match)
	for _, id := range e.Tickets {
		s := r.status[id]
		switch {
		case s == nil || s.state != claimed || s.match != one || !one.asks():
			r.fail(10, e, "ends ticket %s, which is not in a match that asks its player", id)
		case e.Reason == "silent" && r.answer(one, id) != "",
			e.Reason == "declined" && r.answer(one, id) != history.Declined:
			r.fail(10, e, "ends ticket %s, whose player said %q", id, r.answer(one, id))
		}
		r.status[id] = &status{state: deleted}
	}
}

// unaccepted reports whether the ticket ended since its player declined a match or did not answer it.
func (t *ticket) unaccepted() bool {
	return slices.ContainsFunc(t.events, func(e *history.Event) bool {
		return e.Kind == history.Expired && (e.Reason == "declined" || e.Reason == "silent")
	})
}

// matchesAreAccepted checks promise 10 with what the players saw. The replay of the event log checks it too.
func matchesAreAccepted(m *model, p *Promise, _ *Sums) {
	var asked, accepted, silent int
	reasons := map[string]int{}
	for _, one := range m.matchesByID() {
		if !one.asks() || m.isShakenMatch(one.id) {
			continue
		}
		asked++
		all := !slices.ContainsFunc(one.tickets, func(id string) bool { return m.answer(one, id) != history.Accepted })
		if all {
			accepted++
		}
		for _, a := range one.hostings {
			if a.Op == history.Allocate && !all {
				p.fail("%s: match %s: a server was asked for at %s, and not all players accepted", one.project, one.id,
					clock(a.At))
			}
		}
		if one.ended == nil || one.ended.Kind != history.Released {
			continue
		}
		reasons[one.ended.Reason]++
		if one.ended.Reason != "silent" {
			continue
		}
		if all {
			p.fail("%s: match %s ended as silent, and all players had accepted", one.project, one.id)
		}
		limit := time.Duration(one.first.Acceptance)*time.Millisecond + m.h.Terms.Recovery
		if took := m.ableTime(one.first, one.ended); took > limit {
			p.fail("%s: the acceptance of match %s ended only after %v of the time in which a director could end it; the "+
				"limit is %v", one.project, one.id, took, limit)
		}
	}
	answers := map[history.Op]int{}
	for _, t := range m.ticketsByID() {
		m.checkAnswers(p, t, answers)
		silent += m.checkSilent(p, t)
	}
	p.count("matches that asked their players", asked)
	p.count("of these, accepted by all", accepted)
	p.count("matches that ended since a player declined or left", reasons["declined"])
	p.count("matches that ended since a player was silent", reasons["silent"])
	p.count("matches that ended since their running game changed", reasons["game"])
	p.count("tickets that ended since a player was silent", silent)
	p.count("answers of players who accepted", answers[history.Accept])
	p.count("answers of players who declined", answers[history.Decline])
}

// checkAnswers checks what became of a ticket whose player's answers were taken.
func (m *model) checkAnswers(p *Promise, t *ticket, answers map[history.Op]int) {
	for _, c := range t.calls {
		if c.Op != history.Accept && c.Op != history.Decline || c.Status != 204 {
			continue
		}
		answers[c.Op]++
		if m.isShakenTicket(t.id) || m.isShakenMatch(c.Match) || m.lost(t.project, c.Span) {
			continue
		}
		one := m.matches[c.Match]
		switch {
		case one == nil || !one.asks():
			p.fail("%s: ticket %s: a %s was taken at %s, for match %s, which asks nobody", t.project, t.id, c.Op, clock(c.To),
				c.Match)
		case c.Op == history.Decline && one.ended != nil &&
			(one.ended.Kind == history.Assigned || one.ended.Reason == "lapsed"):
			p.fail("%s: ticket %s declined match %s, which was %s", t.project, t.id, one.id, one.ended.Kind)
		case c.Op == history.Accept && t.endedBy(c.Match) &&
			(len(t.made.Players) == 0 || m.answer(one, t.id) == history.Accepted):
			p.fail("%s: ticket %s accepted match %s, and ended with it", t.project, t.id, one.id)
		}
	}
}

// leastTime is the time in which a player can answer.
const leastTime = time.Second

// checkSilent checks that the player of a ticket that ended as silent could answer, and returns how many did so.
func (m *model) checkSilent(p *Promise, t *ticket) (silent int) {
	for _, e := range t.events {
		one := m.matches[e.Match]
		if e.Kind != history.Expired || e.Reason != "silent" || one == nil || !one.asks() || m.isShaken(e) {
			continue
		}
		silent++
		asked := history.Moment(one.first.Time * 1000)
		over := asked + history.Moment(one.first.Acceptance*1000)
		able := over - asked
		for _, s := range m.unanswered() {
			able -= max(0, min(s.To, over)-max(s.From, asked))
		}
		if able < history.Moment(leastTime.Microseconds()) {
			p.fail("%s: ticket %s ended as silent with match %s, and nobody took answers but for %v", t.project, t.id, one.id,
				time.Duration(able)*time.Microsecond)
		}
	}
	return silent
}

// unanswered are the times in which surely no service took answers.
func (m *model) unanswered() []history.Span {
	var all []history.Span
	for i, name := range m.h.Terms.Answerers {
		var own []history.Span
		for _, f := range m.h.Faults {
			if f.Target == name && (f.Kind == string(schedule.Kill) || f.Kind == string(schedule.Freeze)) {
				own = append(own, f.Span)
			}
		}
		if own = union(own); i == 0 {
			all = own
		} else {
			all = both(all, own)
		}
	}
	return all
}

// endedBy reports whether the ticket ended since a match was not accepted.
func (t *ticket) endedBy(match string) bool {
	return slices.ContainsFunc(t.events, func(e *history.Event) bool {
		return e.Kind == history.Expired && e.Match == match
	})
}

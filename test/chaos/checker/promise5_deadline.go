package checker

import (
	"cmp"
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/schedule"
)

// claimsEnd checks promise 5: claims and proposals end in time, tickets keep their age, and no ticket is left over. The
// replay of the event log checks it too.
func claimsEnd(m *model, p *Promise, s *Sums) {
	reasons := map[string]int{}
	var claims, joins int
	for _, one := range m.matchesByID() {
		if one.first == nil || one.first.Kind != history.Claimed || one.ended == nil ||
			m.isShakenMatch(one.id) {
			continue
		}
		claims++
		if one.ended.Kind == history.Released {
			reasons[one.ended.Reason]++
		}
		if one.joins() {
			joins++
		}
		limit := m.matchPatience(one.first) + m.h.Terms.Recovery + time.Duration(one.first.Acceptance)*time.Millisecond
		if one.begun != nil {
			limit += m.h.Terms.Allocation
		}
		if took := m.ableTime(one.first, one.ended); took > limit {
			p.fail("%s: match %s was %s only %v after it was claimed, of the time in which a director could end it; "+
				"the limit is %v",
				one.project, one.id, one.ended.Kind, took, limit)
		}
	}
	var again, readings int
	for _, t := range m.ticketsByID() {
		var created int64
		for _, c := range t.callsOf(history.Get) {
			if c.Status != 200 || c.Created == 0 {
				continue
			}
			if created != 0 && c.Created != created {
				p.fail("%s: ticket %s was created at %d, and later at %d", t.project, t.id, created, c.Created)
			}
			created = c.Created
			readings++
		}
		for _, e := range t.events {
			if e.Kind == history.Released {
				again++
			}
		}
		if m.stranded(t) {
			s.Stranded++
			p.fail("%s: ticket %s (player %d) was never matched", t.project, t.id, t.number)
		}
	}
	p.count("matches claimed", claims)
	p.count("matches that went to running games", joins)
	p.count("matches released because a player had left", reasons["left"])
	p.count("matches released at the claim's deadline", reasons["deadline"])
	p.count("tickets that waited again", again)
	p.count("readings of a ticket's age", readings)
	m.leadersWork(p)
}

// stranded reports whether a ticket still waits at the end, though the workload gave it partners: the last answer says
// that, whatever was told before. No player waits for one that a DELETE without an answer may yet delete, nor for one
// that was over before a failover undid that.
func (m *model) stranded(t *ticket) bool {
	waits, undone := true, false
	for _, c := range t.calls {
		over := c.Op == history.Delete || c.Status == 404 || c.Assignment != nil
		if over || c.Op == history.Get && c.Status == 200 {
			waits = !over
		}
		undone = undone || over && (m.isShakenTicket(t.id) || m.lost(t.project, c.Span))
	}
	return waits && !undone
}

// ableTime is the time between two events in which the claims of a project could be ended: Redis had no fault, and one
// of the directors had none, nor had its connection to Redis. Other faults are no excuse.
func (m *model) ableTime(from, to *history.Event) time.Duration {
	a, b := history.Moment(from.Time*1000), history.Moment(to.Time*1000)
	able := b - a
	for _, s := range m.disabled() {
		able -= max(0, min(s.To, b)-max(s.From, a))
	}
	return time.Duration(able) * time.Microsecond
}

// disabled are the times in which no claim could be ended, without overlap and in order.
func (m *model) disabled() []history.Span {
	if m.disabledSpans != nil {
		return m.disabledSpans
	}
	var all []history.Span
	for i, director := range m.h.Terms.Directors {
		own := m.faultsOf(director, director+">redis")
		if i == 0 {
			all = own
		} else {
			all = both(all, own)
		}
	}
	m.disabledSpans = union(append(all, m.faultsOf(m.h.Terms.Stores...)...))
	return m.disabledSpans
}

// faultsOf are the times in which one of some targets had a fault, without overlap and in order. Full memory keeps
// no director from ending claims: Redis refuses only what is new.
func (m *model) faultsOf(targets ...string) []history.Span {
	all := []history.Span{}
	for _, f := range m.h.Faults {
		if slices.Contains(targets, f.Target) && f.Kind != string(schedule.FillMemory) {
			all = append(all, f.Span)
		}
	}
	return union(all)
}

// union sorts spans, and joins overlapping ones.
func union(spans []history.Span) []history.Span {
	slices.SortFunc(spans, func(a, b history.Span) int { return cmp.Compare(a.From, b.From) })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.From <= joined[n-1].To {
			joined[n-1].To = max(joined[n-1].To, s.To)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// both is the time that is in spans of a and in spans of b.
func both(a, b []history.Span) []history.Span {
	all := []history.Span{}
	for _, x := range a {
		for _, y := range b {
			if from, to := max(x.From, y.From), min(x.To, y.To); from < to {
				all = append(all, history.Span{From: from, To: to})
			}
		}
	}
	return all
}

package checker

import (
	"cmp"
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// claimsEnd checks promise 5: claims and proposals end in time, tickets keep their age, and no ticket is left over. The
// replay of the event log checks it too.
func claimsEnd(m *model, p *Promise, s *Sums) {
	reasons := map[string]int{}
	var claims int
	for _, one := range m.matchesByID() {
		if one.first == nil || one.first.Kind != history.Claimed || one.ended == nil {
			continue
		}
		claims++
		if one.ended.Kind == history.Released {
			reasons[one.ended.Reason]++
		}
		limit := m.h.Terms.Claim + m.h.Terms.Recovery
		if one.begun != nil {
			limit += m.h.Terms.Allocation
		}
		if took := m.calmTime(one.first, one.ended); took > limit {
			p.fail("%s: match %s was %s only %v after it was claimed, without the time of faults; the limit is %v",
				one.project, one.id, one.ended.Kind, took, limit)
		}
	}
	proposals := m.proposalsEnd(p)
	var again, readings int
	for _, t := range m.ticketsByID() {
		var created int64
		for _, c := range t.callsOf(history.Get) {
			if c.Status != 200 {
				continue
			}
			if created != 0 && c.Created != created {
				p.fail("%s: ticket %s was created at %d, and later at %d", t.project, t.id, created, c.Created)
			}
			created = c.Created
			readings++
		}
		for _, e := range t.events {
			if e.Kind == history.Released || e.Kind == history.Rejected {
				again++
			}
		}
		if t.stranded() {
			s.Stranded++
			p.fail("%s: ticket %s (player %d) was never matched", t.project, t.id, t.number)
		}
	}
	p.count("matches claimed", claims)
	p.count("tickets proposed to running games", proposals)
	p.count("matches released because a player had left", reasons["left"])
	p.count("matches released at the claim's deadline", reasons["deadline"])
	p.count("tickets that waited again", again)
	p.count("readings of a ticket's age", readings)
}

// proposalsEnd checks how long tickets were proposed to running games, and returns how many were.
func (m *model) proposalsEnd(p *Promise) (count int) {
	limit := m.h.Terms.Approval + m.h.Terms.Recovery
	for _, t := range m.ticketsByID() {
		var since *history.Event
		for _, e := range t.events {
			switch {
			case e.Kind == history.Proposed:
				count++
				since = e
			case since != nil:
				if took := m.calmTime(since, e); took > limit {
					p.fail("%s: ticket %s, proposed to backfill ticket %s, was %s only %v later, without faults; the limit is %v",
						t.project, t.id, since.Backfill, e.Kind, took, limit)
				}
				since = nil
			}
		}
	}
	return count
}

// stranded tells whether a ticket still waits at the end, though the workload gave it partners. Promise 1 covers
// tickets that were lost.
func (t *ticket) stranded() bool {
	if _, sent := t.deleteSent(nil); sent || t.result() != nil {
		return false
	}
	n := len(t.calls)
	return n == 0 || t.calls[n-1].Status != 404
}

// calmTime is the time between two events during which there was no fault.
func (m *model) calmTime(from, to *history.Event) time.Duration {
	a, b := history.Moment(from.Time*1000), history.Moment(to.Time*1000)
	calm := b - a
	faults := slices.Clone(m.h.Faults)
	slices.SortFunc(faults, func(x, y history.Fault) int { return cmp.Compare(x.From, y.From) })
	for _, f := range faults {
		start, end := max(f.From, a), min(f.To, b)
		if end > start {
			calm -= end - start
			a = end // faults that overlap count once
		}
	}
	return time.Duration(calm) * time.Microsecond
}

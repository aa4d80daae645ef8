package checker

import "matchmaker.dev/services/test/chaos/history"

// deleteIsFinal checks promise 4: after a DELETE was answered 200 the ticket is gone and in no match. The replay of the
// event log checks it too.
func deleteIsFinal(m *model, p *Promise, _ *Sums) {
	states := map[string]int{}
	var after int
	for _, t := range m.ticketsByID() {
		d := t.deleted()
		if d == nil || m.lost(t.project, d.Span) {
			continue
		}
		for _, c := range t.calls {
			if c.From <= d.To || c.Status == 0 || c.Status >= 500 {
				continue
			}
			after++
			if c.Status != 404 || c.End != "" && t.made.Party == "" && c.From > d.To {
				p.fail("%s: ticket %s was deleted at %s; a %s at %s was answered %d",
					t.project, t.id, clock(d.To), c.Op, clock(c.From), c.Status)
			}
		}
		for _, e := range t.events {
			switch e.Kind {
			case history.Cancelled:
				states[e.Reason]++
			case history.Claimed, history.Assigned, history.Failed:
				if e.Time > d.To.Millis() {
					p.fail("%s: ticket %s was deleted at %s, and %s by match %q after that", t.project, t.id, clock(d.To), e.Kind,
						e.Match)
				}
			}
		}
	}
	for _, state := range []string{waiting, claimed, resolved} {
		p.count("deletions of a ticket that was "+state, states[state])
	}
	p.count("requests for deleted tickets", after)
}

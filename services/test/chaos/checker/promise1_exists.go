package checker

import (
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// cancelled tells whether the event log says that the ticket was deleted.
func (t *ticket) cancelled() bool {
	return slices.ContainsFunc(t.events, func(e *history.Event) bool { return e.Kind == history.Cancelled })
}

// exists checks promise 1: a ticket answers 404 only after its player asked to delete it, and is known after the
// faults.
func exists(m *model, p *Promise, s *Sums) {
	var answers, deleted, declined, after, undone, large int
	for _, t := range m.ticketsByID() {
		if t.made.Bytes > 0 {
			large++
		}
		lost, known := false, false
		for _, c := range t.calls {
			if c.Op == history.Get && c.Status == 200 && c.Bytes != t.made.Bytes {
				p.fail("%s: ticket %s has properties of %d bytes at %s, and was created with %d", t.project, t.id, c.Bytes,
					clock(c.To), t.made.Bytes)
			}
			if c.Status == 200 || c.Status == 404 {
				answers++
				known = known || c.From >= m.h.Calm
			}
			if c.Status != 404 {
				continue
			}
			skip := c
			if c.Op == history.Get {
				skip = nil
			}
			if from, sent := t.deleteSent(skip); sent && from <= c.To {
				deleted++
			} else if t.unaccepted() {
				declined++
			} else if t.made.Party != "" && t.cancelled() { // promise 11 says when a party's search ends
				deleted++
			} else if m.lost(t.project, t.made.Span) {
				undone++
			} else if !lost {
				lost = true
				p.fail("%s: ticket %s (player %d) is gone at %s, and no DELETE was sent", t.project, t.id, t.number, clock(c.To))
			}
		}
		if lost {
			s.Lost++
		}
		if known {
			after++
		} else if !lost {
			s.Lost++
			p.fail("%s: no request for ticket %s (player %d) was answered after the faults", t.project, t.id, t.number)
		}
	}
	p.count("tickets answered 201", len(m.tickets))
	p.count("of these, with large properties", large)
	p.count("answers about them", answers)
	p.count("answers 404 for deleted tickets", deleted)
	p.count("answers 404 for tickets whose players did not accept", declined)
	p.count("answers 404 for tickets whose creation was lost in a failover", undone)
	p.count("tickets known after the faults", after)
}

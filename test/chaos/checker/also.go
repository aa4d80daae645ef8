package checker

import (
	"strings"

	"matchmaker.dev/services/test/chaos/history"
)

// eventLog checks that the event log and the players saw the same. The replay of the event log checks its order.
func eventLog(m *model, p *Promise, _ *Sums) {
	var count, agreed, shaken int
	for _, log := range m.logs {
		count += len(log)
	}
	for _, t := range m.ticketsByID() {
		kinds := map[history.Kind]int{}
		for _, e := range t.events {
			kinds[e.Kind]++
		}
		c := t.result()
		switch {
		case m.isShakenTicket(t.id):
			shaken++
		case kinds[history.Created] == 0:
			p.fail("%s: ticket %s was answered 201, but the event log does not have it", t.project, t.id)
		case c != nil && c.Assignment.Error == "" && kinds[history.Assigned] == 0:
			p.fail("%s: ticket %s was told %s, but the event log has no assignment", t.project, t.id, c.Assignment.Connection)
		case c != nil && c.Assignment.Error != "" && kinds[history.Failed] == 0:
			p.fail("%s: ticket %s was told %s, but the event log has no failure", t.project, t.id, c.Assignment.Error)
		case t.deleted() != nil && kinds[history.Cancelled]+kinds[history.Expired] == 0:
			p.fail("%s: ticket %s was deleted, but the event log does not say so", t.project, t.id)
		default:
			agreed++
		}
	}
	p.count("events", count)
	p.count("times whose writes may be lost in a failover", len(m.h.Losses))
	p.count("tickets that were written then", shaken)
	p.count("tickets that the event log and their players saw alike", agreed)
}

// answers checks that no request is answered with an error that only a mistake can cause.
func answers(m *model, p *Promise, _ *Sums) {
	counts := map[int]int{}
	check := func(status int, what history.Op, at history.Moment, text string) {
		counts[status]++
		if status == 400 && what == history.Create && strings.Contains(text, "no config of this project serves") {
			return
		}
		if status == 500 || status == 400 || status == 401 || status == 403 {
			p.fail("a %s at %s was answered %d: %s", what, clock(at), status, text)
		}
	}
	for _, c := range m.h.Calls {
		check(c.Status, c.Op, c.From, c.Error)
	}
	for _, s := range m.h.Steps {
		if s.Status == 403 { // the leader may have changed
			s.Status = 409
		}
		check(s.Status, s.Op, s.From, s.Error)
	}
	for _, c := range m.h.Changes {
		switch c.Op {
		case history.Rollback, history.Canary, history.Promote, history.Shadow:
			if c.Status == 400 { // the upload runs already, for all or as a canary
				c.Status = 409
			}
		}
		check(c.Status, c.Op, c.From, c.Error)
	}
	for _, c := range m.h.Rounds {
		check(c.Status, c.Op, c.From, c.Error)
	}
	good, unavailable := 0, 0
	for status, n := range counts {
		switch {
		case status == 0:
		case status >= 500:
			unavailable += n
		default:
			good += n
		}
	}
	p.count("requests answered", good)
	p.count("requests answered 503", unavailable)
	p.count("requests without an answer", counts[0])
}

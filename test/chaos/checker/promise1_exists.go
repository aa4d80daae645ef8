package checker

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// cancelled reports whether the event log says that the ticket was deleted.
func (t *ticket) cancelled() bool {
	return slices.ContainsFunc(t.events, func(e *history.Event) bool { return e.Kind == history.Cancelled })
}

// exists checks promise 1: a ticket answers 404 only after its player asked to delete it, and is known after the
// faults.
func exists(m *model, p *Promise, s *Sums) {
	var answers, deleted, declined, after, undone, large, told int
	ends := map[string]int{}
	for _, t := range m.ticketsByID() {
		if t.made.Bytes > 0 {
			large++
		}
		lost, known, hidden := false, false, false
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
			if c.End != "" {
				told += m.checkTold(p, t, c)
			}
			skip := c
			if c.Op == history.Get {
				skip = nil
			}
			if from, sent := t.deleteSent(skip); sent && from <= c.To {
				deleted++
			} else if t.unaccepted() {
				declined++
			} else if reason := t.endedEarly(); reason != "" { // checkEnd asks whether it may
				ends[reason]++
			} else if t.made.Party != "" && t.cancelled() { // promise 11 says when a party's search ends
				deleted++
			} else if hidden = hidden || m.lost(t.project, c.Span); hidden || m.lost(t.project, t.made.Span) {
				undone++ // or it ended then, and the event log lacks that
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
	for _, t := range m.ticketsByID() {
		m.checkEnd(p, t)
	}
	m.checkKeys(p)
	p.count("tickets answered 201", len(m.tickets))
	p.count("of these, with large properties", large)
	p.count("answers about them", answers)
	p.count("answers 404 for deleted tickets", deleted)
	p.count("answers 404 for tickets whose players did not accept", declined)
	p.count("answers 404 for tickets whose creation, or the event of whose end, was lost in a failover", undone)
	for _, reason := range slices.Sorted(maps.Keys(ends)) {
		p.count("answers 404 for tickets that ended as "+reason, ends[reason])
	}
	p.count("reasons of ends that players were told", told)
	p.count("tickets known after the faults", after)
}

// endsEarly are the reasons for which a project may want tickets to end.
var endsEarly = []string{"replaced", "unheard", "unserved"}

// endedEarly is for which of them a ticket ended; "" for none.
func (t *ticket) endedEarly() string {
	for _, e := range t.events {
		if (e.Kind == history.Expired || e.Kind == history.Cancelled) && slices.Contains(endsEarly, e.Reason) {
			return e.Reason
		}
	}
	return ""
}

// checkTold checks that a reason that a player was told is the event log's.
func (m *model) checkTold(p *Promise, t *ticket, c *history.Call) (told int) {
	if m.isShakenTicket(t.id) || c.End == "gone" {
		return 0
	}
	for _, e := range t.events {
		if e.Kind == history.Expired && e.Reason == c.End || e.Kind == history.Cancelled && (e.Reason == c.End ||
			c.End == "deleted" && !slices.Contains(endsEarly, e.Reason)) {
			return 1
		}
	}
	p.fail("%s: ticket %s was told to have ended as %s at %s, and the event log does not say so", t.project, t.id, c.End,
		clock(c.To))
	return 0
}

// player is the player of a ticket that is not a party's.
func player(c *history.Call) string { return cmp.Or(c.Player, fmt.Sprint("player-", c.Number)) }

// heardLate is how long it may take until the state knows that a request asked for a ticket, and heardFor for how long
// it is heard of then.
const (
	heardLate = 4 * time.Second
	heardFor  = 20 * time.Second
)

// checkEnd checks that a ticket that ended for a reason of its project could.
func (m *model) checkEnd(p *Promise, t *ticket) {
	for _, e := range t.events {
		if e.Kind != history.Expired && e.Kind != history.Cancelled || m.isShaken(e) {
			continue
		}
		at := history.Moment(e.Time * 1000)
		until := at + history.Moment(clockError.Microseconds())
		switch e.Reason {
		case "replaced": // promise 11 asks why the search of a party ends
			if t.made.Party == "" && !slices.ContainsFunc(m.h.Calls, func(c history.Call) bool {
				return c.Op == history.Create && c.Project == t.project && c.Ticket != t.id && c.From <= until &&
					player(&c) == player(t.made)
			}) {
				p.fail("%s: ticket %s was replaced at %s, and its player asked for no other", t.project, t.id, clock(at))
			}
		case "unheard": // of an answer the way to the state may be lost, not of several
			asked := slices.DeleteFunc(t.callsOf(history.Get), func(c *history.Call) bool {
				return c.Status == 0 || c.Status >= 500 || c.From > at-history.Moment(heardLate.Microseconds()) ||
					c.To < at-history.Moment((heardFor-heardLate).Microseconds())
			})
			if len(asked) > 2 {
				p.fail("%s: ticket %s ended as unheard at %s, and was asked for %d times before that", t.project, t.id, clock(at),
					len(asked))
			}
		case "unserved":
			if m.isServed(t, at) {
				p.fail("%s: ticket %s ended as unserved at %s, and a config served its queue", t.project, t.id, clock(at))
			}
		}
	}
}

// isServed reports whether the config of the ticket's queue was surely there at a time.
func (m *model) isServed(t *ticket, at history.Moment) bool {
	var put *history.Change
	for i := range m.h.Changes {
		c := &m.h.Changes[i]
		switch {
		case c.Project != t.project || !slices.Contains(t.configs, c.Name) || c.From > at:
		case c.Op == history.Put && c.Status/100 == 2 && c.To < at:
			put = c
		case c.Op == history.Delete && (put == nil || c.To >= put.From || c.Status/100 != 2):
			put = nil
		}
	}
	return put != nil
}

// checkKeys checks that creates with the same key made one ticket: that was told, and no other was in a match.
func (m *model) checkKeys(p *Promise) {
	type of struct{ project, key string }
	tickets, numbers, undone, again := map[of]string{}, map[of]*match{}, map[of]bool{}, 0
	for i := range m.h.Calls {
		c := &m.h.Calls[i]
		k := of{c.Project, c.Key}
		if c.Op != history.Create || c.Key == "" || m.lost(c.Project, c.Span) {
			continue
		}
		number := of{c.Project, fmt.Sprint(c.Number)}
		if numbers[number] = nil; c.Status != 201 {
			continue
		}
		undone[number] = undone[number] || m.isShakenTicket(c.Ticket)
		if first := tickets[k]; first == "" {
			tickets[k] = c.Ticket
		} else if again++; first != c.Ticket {
			p.fail("%s: %s created ticket %s, and ticket %s when it was repeated", c.Project, c.Key, first, c.Ticket)
		}
	}
	for _, t := range m.ticketsByID() {
		one, c := m.matchOf(t), t.result()
		if one == nil || c == nil || m.isShakenMatch(one.id) || m.lostResult(t.project, c.Span) {
			continue
		}
		made, _ := properties(c.Assignment)
		for _, number := range made.Players {
			k := of{t.project, fmt.Sprint(number)}
			if other, keyed := numbers[k]; keyed && other != nil && other != one && !undone[k] {
				p.fail("%s: player %d is in match %s and in match %s, with one key", t.project, number, other.id, one.id)
			} else if keyed {
				numbers[k] = one
			}
		}
	}
	p.count("creates with a key", len(tickets))
	p.count("creates that were answered again", again)
}

package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// A failover to a server that lagged undoes what happened in a while. ARCHITECTURE.md says what that may cause: a
// ticket is unknown, waits again, is matched again; a config is as it was; no record knows a server. The checks
// leave out what was written then, and hold everything else, and that no player is left waiting, to the promises.

// eventDelay is how much older the time of an event may be than its write: the process took the time before.
const eventDelay = 3 * time.Second

// resultDelay is how long after its write a result may be told that is not read again.
const resultDelay = time.Second

// gapDelay is how long after a loss the event log may tell of it: the bus may have been away.
const gapDelay = time.Minute

// shaken are the tickets, matches and backfill tickets that were written while writes were lost.
type shaken struct{ tickets, matches, backfills map[string]struct{} }

// lost reports whether a request may have been undone.
func (m *model) lost(project string, s history.Span) bool {
	return slices.ContainsFunc(m.losses[project], s.Overlaps)
}

// lostResult reports whether the result that a request was told may have been undone.
func (m *model) lostResult(project string, s history.Span) bool {
	s.From -= history.Moment(resultDelay.Microseconds())
	return m.lost(project, s)
}

// isShaken reports whether a loss may have undone what an event is about.
func (m *model) isShaken(e *history.Event) bool {
	_, is := m.shaken.matches[e.Match]
	if !is {
		_, is = m.shaken.backfills[e.Backfill]
	}
	return is || slices.ContainsFunc(e.Tickets, m.isShakenTicket)
}

func (m *model) isShakenTicket(id string) bool {
	_, is := m.shaken.tickets[id]
	return is
}

func (m *model) isShakenMatch(id string) bool {
	_, is := m.shaken.matches[id]
	return is
}

func (m *model) isShakenBackfill(id string) bool {
	_, is := m.shaken.backfills[id]
	return is
}

// isAnnounced reports whether a loss explains a gap of the event log.
func (m *model) isAnnounced(gap *history.Event) bool { return m.lossBefore(gap) != nil }

// lossBefore is the latest loss that a gap may tell of; nil when there is none.
func (m *model) lossBefore(gap *history.Event) *history.Span {
	at := history.Moment(gap.Time * 1000)
	for i := len(m.losses[gap.Project]) - 1; i >= 0; i-- {
		l := &m.losses[gap.Project][i]
		if l.From <= at && at <= l.To+history.Moment(gapDelay.Microseconds()) {
			return l
		}
	}
	return nil
}

// shake finds what may have been undone. The calls of tickets are in order.
func (m *model) shake() {
	m.losses = map[string][]history.Span{}
	m.shaken = shaken{map[string]struct{}{}, map[string]struct{}{}, map[string]struct{}{}}
	for _, l := range m.h.Losses {
		for _, p := range l.Projects {
			m.losses[p] = append(m.losses[p], l.Span)
		}
	}
	for project, spans := range m.losses {
		slices.SortFunc(spans, func(a, b history.Span) int { return cmp.Compare(a.From, b.From) })
		m.logs[project] = untold(m.logs[project])
		for _, e := range m.logs[project] {
			// Up to its gap the log lacks also what was written after the loss.
			if l := m.lossBefore(e); e.Kind == history.Gap && l != nil {
				l.To = max(l.To, history.Moment(e.Time*1000))
			}
		}
	}
	for project := range m.losses {
		m.shakeEvents(project)
	}
	for _, t := range m.tickets {
		result := t.result()
		for _, c := range append([]*history.Call{t.made}, t.calls...) {
			tells := c.Op == history.Create || c.Op == history.Delete && c.Status != 404
			if tells && m.lost(t.project, c.Span) || c == result && m.lostResult(t.project, c.Span) {
				m.shaken.tickets[t.id] = struct{}{}
			}
		}
	}
	for i := range m.h.Rounds {
		if r := &m.h.Rounds[i]; m.lost(r.Project, r.Span) {
			m.shaken.backfills[r.Backfill] = struct{}{}
			for _, id := range r.Tickets {
				m.shaken.tickets[id] = struct{}{}
			}
		}
	}
	delete(m.shaken.backfills, "")
	delete(m.shaken.matches, "")
}

// shakeEvents finds what events and the hosting system's requests say was written while writes were lost.
func (m *model) shakeEvents(project string) {
	known := map[string]struct{}{}
	for _, e := range m.logs[project] {
		known[e.Match] = struct{}{}
		at := history.Moment(e.Time * 1000)
		if !m.lost(project, history.Span{From: at, To: at + history.Moment(eventDelay.Microseconds())}) {
			continue
		}
		m.shaken.matches[e.Match], m.shaken.backfills[e.Backfill] = struct{}{}, struct{}{}
		for _, id := range e.Tickets {
			m.shaken.tickets[id] = struct{}{}
		}
	}
	for i := range m.h.Hostings {
		a := &m.h.Hostings[i]
		if a.Project != project {
			continue
		}
		begun := a.At
		if _, is := known[a.Match]; !is { // begun before, and the event is lost
			begun -= history.Moment(m.h.Terms.Allocation.Microseconds())
		}
		if m.lost(project, history.Span{From: begun, To: a.At}) {
			m.shaken.matches[a.Match] = struct{}{}
		}
	}
}

// untold leaves out events that are told again: after a loss the event log goes on from where the present history says
// that it was published.
func untold(log []*history.Event) []*history.Event {
	seen := map[string]struct{}{}
	return slices.DeleteFunc(log, func(e *history.Event) bool {
		if e.Kind == history.Gap {
			return false
		}
		key := fmt.Sprint(e.Position, e.Kind, e.Time, e.Match, e.Backfill, e.Tickets, e.Player)
		_, again := seen[key]
		seen[key] = struct{}{}
		return again
	})
}

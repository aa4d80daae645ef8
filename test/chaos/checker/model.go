package checker

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// model is a history in order.
type model struct {
	h *history.History
	// tickets that were answered 201, by id.
	tickets map[string]*ticket
	// matches that the event log or the hosting system knows, by id.
	matches map[string]*match
	// logs are the events of each project, in the order of their positions.
	logs map[string][]*history.Event
	// doubled are tickets that are in two matches.
	doubled map[string]struct{}
	// losses are the times whose writes may be lost, of each project in order. shaken is what was written then.
	losses map[string][]history.Span
	shaken shaken
	// disabledSpans are the result of disabled.
	disabledSpans []history.Span
	// open counts tickets that are claimed at the end.
	open int
}

// ticket is one that was answered 201.
type ticket struct {
	id, project string
	number      int64
	// configs could match it with any other of their tickets.
	configs []string
	// made is the call that created it.
	made *history.Call
	// calls are its GETs and DELETEs in the order in which they were sent.
	calls []*history.Call
	// events are the events that name it, in order.
	events []*history.Event
}

// match is one that was claimed, or assigned at once.
type match struct {
	id, project string
	// first is the event that made it, and tickets are first's. They are nil when only the hosting system knows the
	// match.
	first   *history.Event
	tickets []string
	// begun is the first event of its allocation, ended the one that ended the match.
	begun, ended *history.Event
	// answers are the answers of its tickets' players, by their numbers, if it asks them.
	answers  map[string]map[int64]history.Kind
	hostings []*history.Hosting
}

func build(h *history.History) *model {
	m := &model{
		h: h, tickets: map[string]*ticket{}, matches: map[string]*match{},
		logs: map[string][]*history.Event{}, doubled: map[string]struct{}{},
	}
	for i := range h.Calls {
		// A create that was repeated with its key counts once.
		if c := &h.Calls[i]; c.Op == history.Create && c.Status == 201 && m.tickets[c.Ticket] == nil {
			t := &ticket{id: c.Ticket, project: c.Project, number: c.Number, configs: c.Configs, made: c}
			m.tickets[t.id] = t
		}
	}
	for i := range h.Calls {
		c := &h.Calls[i]
		if t := m.tickets[c.Ticket]; t != nil && c.Op != history.Create {
			t.calls = append(t.calls, c)
		}
	}
	for _, t := range m.tickets {
		slices.SortStableFunc(t.calls, func(a, b *history.Call) int { return cmp.Compare(a.From, b.From) })
	}
	for i := range h.Events {
		e := &h.Events[i]
		m.logs[e.Project] = append(m.logs[e.Project], e)
	}
	for i := range h.Hostings {
		a := &h.Hostings[i]
		one := m.match(a.Project, a.Match)
		one.hostings = append(one.hostings, a)
	}
	m.shake()
	return m
}

// match is the match with an id. It is added when it is new.
func (m *model) match(project, id string) *match {
	one := m.matches[id]
	if one == nil {
		one = &match{id: id, project: project}
		m.matches[id] = one
	}
	return one
}

// projects lists the projects with events.
func (m *model) projects() []string { return slices.Sorted(maps.Keys(m.logs)) }

// ticketsByID lists the tickets by id, so that a result always reads the same.
func (m *model) ticketsByID() []*ticket {
	all := make([]*ticket, 0, len(m.tickets))
	for _, id := range slices.Sorted(maps.Keys(m.tickets)) {
		all = append(all, m.tickets[id])
	}
	return all
}

// matchesByID lists the matches by id.
func (m *model) matchesByID() []*match {
	all := make([]*match, 0, len(m.matches))
	for _, id := range slices.Sorted(maps.Keys(m.matches)) {
		all = append(all, m.matches[id])
	}
	return all
}

// callsOf lists the ticket's calls with an op.
func (t *ticket) callsOf(op history.Op) []*history.Call {
	var all []*history.Call
	for _, c := range t.calls {
		if c.Op == op {
			all = append(all, c)
		}
	}
	return all
}

// deleteSent is when the first DELETE was sent, whatever its answer; false when none was. skip does not count.
func (t *ticket) deleteSent(skip *history.Call) (history.Moment, bool) {
	for _, c := range t.calls {
		if c.Op == history.Delete && c != skip {
			return c.From, true
		}
	}
	return 0, false
}

// deleted is the DELETE that was answered 200; nil when none was.
func (t *ticket) deleted() *history.Call {
	for _, c := range t.calls {
		if c.Op == history.Delete && c.Status == 200 {
			return c
		}
	}
	return nil
}

// result is the first GET that had a result; nil when none had.
func (t *ticket) result() *history.Call {
	for _, c := range t.calls {
		if c.Op == history.Get && c.Assignment != nil {
			return c
		}
	}
	return nil
}

// matchOf is the match that gave the ticket its result, by the event log; nil when there is none.
func (m *model) matchOf(t *ticket) *match {
	for _, e := range t.events {
		if (e.Kind == history.Assigned || e.Kind == history.Failed) && e.Match != "" {
			return m.matches[e.Match]
		}
	}
	return nil
}

// takes reports whether a director takes waiting tickets in an event.
func (m *model) takes(e *history.Event) bool {
	one := m.matches[e.Match]
	return one != nil && one.first == e
}

// joins reports whether a match goes to a running game.
func (one *match) joins() bool {
	return one.first != nil && strings.HasPrefix(one.first.Place, "backfill/")
}

// matchPatience is for how long a match waits after its first event before it begins or ends, unless it asks its
// players.
func (m *model) matchPatience(first *history.Event) time.Duration {
	if strings.HasPrefix(first.Place, "backfill/") {
		return m.h.Terms.Approval
	}
	return m.h.Terms.Claim
}

// properties are what the match function wrote for all players of the match; false when it wrote nothing.
func properties(a *history.Assignment) (p history.Properties, ok bool) {
	if len(a.Match) == 0 {
		return p, false
	}
	return p, json.Unmarshal(a.Match, &p) == nil
}

// clock is a moment as the logs write it.
func clock(m history.Moment) string { return m.Time().UTC().Format("15:04:05.000") }

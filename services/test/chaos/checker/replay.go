package checker

import (
	"fmt"
	"maps"
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// standing is what a ticket is, by the event log: and which match, or which backfill ticket, it is that of.
type standing struct {
	state    string
	match    *match
	backfill string
}

// where is what it belongs to, in words.
func (s *standing) where() string {
	if s.match != nil {
		return "match " + s.match.id
	}
	return "backfill ticket " + s.backfill
}

// The states of a ticket.
const (
	waiting  = "waiting"
	claimed  = "claimed"
	proposed = "proposed"
	resolved = "resolved"
	gone     = "gone"
)

// replay goes through the event log step by step. It returns what it found broken, by the number of the promise; 0 is the log itself.
func (m *model) replay() map[int][]string {
	r := &replay{model: m, broken: map[int][]string{}}
	for _, project := range slices.Sorted(maps.Keys(m.logs)) {
		r.project, r.standings, r.position, r.epoch = project, map[string]*standing{}, 0, 0
		for _, e := range m.logs[project] {
			r.step(e)
		}
		r.end()
	}
	return r.broken
}

type replay struct {
	*model
	broken    map[int][]string
	project   string
	standings map[string]*standing
	position  uint64
	epoch     uint64
}

func (r *replay) fail(promise int, e *history.Event, format string, args ...any) {
	r.broken[promise] = append(r.broken[promise],
		fmt.Sprintf("%s, event %d (%s, match %q): ", r.project, e.Position, e.Kind, e.Match)+fmt.Sprintf(format, args...))
}

func (r *replay) step(e *history.Event) {
	if e.Position < r.position {
		r.fail(0, e, "comes behind position %d", r.position)
	}
	r.position = e.Position
	for _, id := range e.Tickets {
		if t := r.tickets[id]; t != nil {
			t.events = append(t.events, e)
		}
	}
	switch e.Kind {
	case history.Created:
		r.created(e)
	case history.Claimed:
		r.claimed(e)
	case history.Allocating:
		r.allocating(e)
	case history.Assigned, history.Failed:
		if e.Backfill != "" && e.Match == "" {
			r.joined(e)
		} else {
			r.resolved(e)
		}
	case history.Proposed:
		r.reigns(e)
		for _, id := range e.Tickets {
			r.take(e, id, &standing{state: proposed, backfill: e.Backfill})
		}
	case history.Rejected:
		r.rejected(e)
	case history.Released:
		r.released(e)
	case history.Cancelled:
		r.cancelled(e)
	case history.Expired:
		for _, id := range e.Tickets {
			r.fail(1, e, "ticket %s expired, in a run that is too short for that", id)
			r.standings[id] = &standing{state: gone}
		}
	case history.Returned:
		if one := r.match(e.Project, e.Match); one.ended != nil && one.ended.Kind == history.Assigned && len(one.ended.Tickets) > 0 {
			r.fail(7, e, "the server was given back though tickets were assigned to it")
		}
	case history.Gap:
		r.fail(0, e, "there is a gap: %s", e.Reason)
	default:
		r.fail(0, e, "nobody knows this kind of event")
	}
}

func (r *replay) created(e *history.Event) {
	for _, id := range e.Tickets {
		if r.standings[id] != nil {
			r.fail(0, e, "ticket %s was created before", id)
		}
		r.standings[id] = &standing{state: waiting}
	}
}

// take moves a ticket that must wait to where it is wanted.
func (r *replay) take(e *history.Event, id string, to *standing) {
	s := r.standings[id]
	switch {
	case s == nil:
		r.fail(0, e, "ticket %s was never created", id)
	case s.state == gone:
		r.fail(4, e, "takes ticket %s, which had been deleted", id)
	case s.state != waiting:
		r.doubled[id] = struct{}{}
		r.fail(2, e, "takes ticket %s, which is %s in %s", id, s.state, s.where())
	}
	r.standings[id] = to
}

// made notes what made a match.
func (r *replay) made(e *history.Event) *match {
	one := r.match(e.Project, e.Match)
	if one.first != nil {
		r.fail(2, e, "the match was made before")
	}
	one.first, one.tickets = e, e.Tickets
	r.reigns(e)
	return one
}

// reigns notes which director took tickets.
func (r *replay) reigns(e *history.Event) {
	if e.Epoch < r.epoch {
		r.fail(2, e, "is of the director of epoch %d, after one of epoch %d: the lease had passed on", e.Epoch, r.epoch)
	}
	r.epoch = max(r.epoch, e.Epoch)
}

func (r *replay) claimed(e *history.Event) {
	one := r.made(e)
	for _, id := range e.Tickets {
		r.take(e, id, &standing{state: claimed, match: one})
	}
}

func (r *replay) allocating(e *history.Event) {
	one := r.match(e.Project, e.Match)
	switch {
	case one.first == nil:
		r.fail(0, e, "the match was never claimed")
		return
	case one.ended != nil:
		r.fail(5, e, "the match was %s before", one.ended.Kind)
		return
	case one.begun != nil:
		return // it was taken up again
	}
	one.begun = e
	for _, id := range one.tickets {
		if s := r.standings[id]; s == nil || s.state != claimed || s.match != one {
			r.fail(3, e, "asks for a server though ticket %s had left", id)
		}
	}
}

// left are the tickets of a match that have not left it.
func (r *replay) left(one *match) []string {
	var ids []string
	for _, id := range one.tickets {
		if s := r.standings[id]; s != nil && s.match == one && s.state == claimed {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *replay) resolved(e *history.Event) {
	one := r.match(e.Project, e.Match)
	if one.first == nil { // without hosting, this is its first event
		one = r.made(e)
		for _, id := range e.Tickets {
			r.take(e, id, &standing{state: resolved, match: one})
		}
		one.ended = e
		return
	}
	if !r.over(e, one) {
		return
	}
	for _, id := range e.Tickets {
		r.standings[id] = &standing{state: resolved, match: one}
	}
}

func (r *replay) released(e *history.Event) {
	one := r.match(e.Project, e.Match)
	if one.first == nil {
		r.fail(0, e, "the match was never claimed")
		return
	}
	if e.Reason == "left" && one.begun != nil {
		r.fail(3, e, "was dropped though its server had been asked for")
	}
	if !r.over(e, one) {
		return
	}
	for _, id := range e.Tickets {
		r.standings[id] = &standing{state: waiting}
	}
}

// over ends a match; false when it had ended. The event must name all tickets that are left of the match, and no other.
func (r *replay) over(e *history.Event, one *match) bool {
	if one.ended != nil {
		r.fail(2, e, "the match was %s before", one.ended.Kind)
		return false
	}
	left := r.left(one)
	for _, id := range e.Tickets {
		s := r.standings[id]
		switch {
		case slices.Contains(left, id):
		case s != nil && s.state == gone:
			r.fail(4, e, "concerns ticket %s, which had been deleted", id)
		default:
			r.doubled[id] = struct{}{}
			r.fail(2, e, "concerns ticket %s, which is not in the match", id)
		}
	}
	for _, id := range left {
		if !slices.Contains(e.Tickets, id) {
			r.fail(3, e, "leaves out ticket %s, which is in the match", id)
		}
	}
	one.ended = e
	return true
}

// joined ends the proposals to a backfill ticket: its server has approved them, all that there were.
func (r *replay) joined(e *history.Event) {
	r.proposals(e, 3)
	for _, id := range e.Tickets {
		r.standings[id] = &standing{state: resolved, backfill: e.Backfill}
	}
}

func (r *replay) rejected(e *history.Event) {
	r.proposals(e, 5)
	for _, id := range e.Tickets {
		r.standings[id] = &standing{state: waiting}
	}
}

// proposals checks that an event names all tickets that are proposed to a backfill ticket, and no other. whole is the promise that says so.
func (r *replay) proposals(e *history.Event, whole int) {
	for _, id := range e.Tickets {
		switch s := r.standings[id]; {
		case s != nil && s.state == proposed && s.backfill == e.Backfill:
		case s != nil && s.state == gone:
			r.fail(4, e, "concerns ticket %s, which had been deleted", id)
		default:
			r.doubled[id] = struct{}{}
			r.fail(2, e, "concerns ticket %s, which is not proposed to backfill ticket %s", id, e.Backfill)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.standings)) {
		if s := r.standings[id]; s.state == proposed && s.backfill == e.Backfill && !slices.Contains(e.Tickets, id) {
			r.fail(whole, e, "leaves out ticket %s, which is proposed to backfill ticket %s", id, e.Backfill)
		}
	}
}

func (r *replay) cancelled(e *history.Event) {
	for _, id := range e.Tickets {
		s := r.standings[id]
		switch {
		case s == nil:
			r.fail(0, e, "ticket %s was never created", id)
		case s.state == gone:
			r.fail(0, e, "ticket %s was deleted before", id)
		case s.state != e.Reason:
			r.fail(0, e, "ticket %s was %s when it was deleted, not %s", id, s.state, e.Reason)
		}
		r.standings[id] = &standing{state: gone}
	}
}

// end looks at what is left when the log is over.
func (r *replay) end() {
	for _, id := range slices.Sorted(maps.Keys(r.standings)) {
		if s := r.standings[id]; s.state == claimed || s.state == proposed {
			r.open++
			r.broken[5] = append(r.broken[5], fmt.Sprintf("%s: ticket %s is still %s in the end, in %s", r.project, id, s.state, s.where()))
		}
	}
}

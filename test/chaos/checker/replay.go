package checker

import (
	"fmt"
	"maps"
	"slices"

	"matchmaker.dev/services/test/chaos/history"
)

// status is a ticket's state by the event log, and the match that it is in.
type status struct {
	state string
	match *match
}

// place is the match in words.
func (s *status) place() string { return "match " + s.match.id }

// The states of a ticket.
const (
	waiting  = "waiting"
	claimed  = "claimed"
	resolved = "resolved"
	deleted  = "deleted"
)

// replay goes through the event logs event by event. It returns how promises were broken, by their numbers; 0 is the
// log itself.
func (m *model) replay() map[int][]string {
	r := &replay{model: m, broken: map[int][]string{}}
	for _, project := range m.projects() {
		r.project, r.status, r.position, r.epoch = project, map[string]*status{}, 0, 0
		for _, e := range m.logs[project] {
			r.step(e)
		}
		r.end()
	}
	return r.broken
}

// double notes that a ticket is in two matches.
func (r *replay) double(e *history.Event, id string) {
	if !r.isShaken(e) {
		r.doubled[id] = struct{}{}
	}
}

// replay is the state of one project's replay.
type replay struct {
	*model
	broken   map[int][]string
	project  string
	status   map[string]*status // of each ticket
	position uint64
	epoch    uint64 // the latest
}

func (r *replay) fail(promise int, e *history.Event, format string, args ...any) {
	if r.isShaken(e) {
		return
	}
	r.broken[promise] = append(r.broken[promise],
		fmt.Sprintf("%s, event %d (%s, match %q): ", r.project, e.Position, e.Kind, e.Match)+fmt.Sprintf(format, args...))
}

func (r *replay) step(e *history.Event) {
	if e.Position < r.position && e.Kind != history.Gap {
		r.fail(0, e, "comes after position %d", r.position)
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
		r.resolved(e)
	case history.Released:
		r.released(e)
	case history.Cancelled:
		r.cancelled(e)
	case history.Accepted, history.Declined:
		r.answered(e)
	case history.Expired:
		if e.Reason == "declined" || e.Reason == "silent" {
			r.unaccepted(e)
			break
		}
		for _, id := range e.Tickets {
			if s := r.status[id]; !slices.Contains(endsEarly, e.Reason) {
				r.fail(1, e, "ticket %s expired, in a run that is too short for that", id)
			} else if s == nil || s.state != waiting {
				r.fail(1, e, "ticket %s ended as %s, and does not wait", id, e.Reason)
			}
			r.status[id] = &status{state: deleted}
		}
	case history.Full, history.Function, history.Unserved, history.Result:
		// They say why tickets wait, and what became of functions and matches.
	case history.Returned:
		if r.match(e.Project, e.Match).assigned() {
			r.fail(7, e, "the server was given back though tickets were assigned to it")
		}
	case history.Gap:
		if r.isAnnounced(e) { // it goes on with a history that was put back
			r.position, r.epoch = e.Position, 0
			break
		}
		r.fail(0, e, "there is a gap: %s", e.Reason)
	default:
		r.fail(0, e, "this kind of event is unknown")
	}
}

func (r *replay) created(e *history.Event) {
	for _, id := range e.Tickets {
		if r.status[id] != nil {
			r.fail(0, e, "ticket %s was created before", id)
		}
		r.status[id] = &status{state: waiting}
	}
}

// take gives a ticket, which must wait, a new status.
func (r *replay) take(e *history.Event, id string, to *status) {
	s := r.status[id]
	switch {
	case s == nil:
		r.fail(0, e, "ticket %s was never created", id)
	case s.state == deleted:
		r.fail(4, e, "takes ticket %s, which had been deleted", id)
	case s.state != waiting:
		r.double(e, id)
		r.fail(2, e, "takes ticket %s, which is %s in %s", id, s.state, s.place())
	}
	r.status[id] = to
}

// makeMatch notes the event that made a match.
func (r *replay) makeMatch(e *history.Event) *match {
	one := r.match(e.Project, e.Match)
	if one.first != nil {
		r.fail(2, e, "the match was made before")
	}
	one.first, one.tickets = e, e.Tickets
	r.checkEpoch(e)
	return one
}

// checkEpoch checks that the director that took tickets had the lease.
func (r *replay) checkEpoch(e *history.Event) {
	if e.Epoch < r.epoch {
		r.fail(2, e, "is of a director of epoch %d, after one of epoch %d: it had lost the lease", e.Epoch, r.epoch)
	}
	r.epoch = max(r.epoch, e.Epoch)
}

func (r *replay) claimed(e *history.Event) {
	one := r.makeMatch(e)
	for _, id := range e.Tickets {
		r.take(e, id, &status{state: claimed, match: one})
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
		return // the allocation began again
	}
	one.begun = e
	r.checkAccepted(e, one)
	for _, id := range one.tickets {
		if s := r.status[id]; s == nil || s.state != claimed || s.match != one {
			r.fail(3, e, "asks for a server though ticket %s had left", id)
		}
	}
}

// remaining lists the tickets that are still in a match.
func (r *replay) remaining(one *match) []string {
	var ids []string
	for _, id := range one.tickets {
		if s := r.status[id]; s != nil && s.match == one && s.state == claimed {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *replay) resolved(e *history.Event) {
	one := r.match(e.Project, e.Match)
	if one.first == nil { // without hosting, this is its first event
		one = r.makeMatch(e)
		for _, id := range e.Tickets {
			r.take(e, id, &status{state: resolved, match: one})
		}
		one.ended = e
		return
	}
	if one.begun == nil {
		r.checkAccepted(e, one)
	}
	if !r.endMatch(e, one) {
		return
	}
	for _, id := range e.Tickets {
		r.status[id] = &status{state: resolved, match: one}
	}
}

func (r *replay) released(e *history.Event) {
	one := r.match(e.Project, e.Match)
	if one.first == nil {
		r.fail(0, e, "the match was never claimed")
		return
	}
	if e.Reason == "lapsed" { // it went to a running game
		r.checkAccepted(e, one)
	}
	if e.Reason == "left" && one.begun != nil {
		r.fail(3, e, "was dropped though its server had been asked for")
	}
	if !r.endMatch(e, one) {
		return
	}
	for _, id := range e.Tickets {
		if r.answer(one, id) == history.Declined && e.Reason == "declined" {
			r.fail(10, e, "ticket %s waits again, whose player declined", id)
		}
		r.status[id] = &status{state: waiting}
	}
}

// endMatch ends a match. It returns false when the match had ended before. The event must name exactly the tickets that
// are still in the match.
func (r *replay) endMatch(e *history.Event, one *match) bool {
	if one.ended != nil {
		r.fail(2, e, "the match was %s before", one.ended.Kind)
		return false
	}
	remaining := r.remaining(one)
	for _, id := range e.Tickets {
		s := r.status[id]
		switch {
		case slices.Contains(remaining, id):
		case s != nil && s.state == deleted:
			r.fail(4, e, "concerns ticket %s, which had been deleted", id)
		default:
			r.double(e, id)
			r.fail(2, e, "concerns ticket %s, which is not in the match", id)
		}
	}
	for _, id := range remaining {
		if !slices.Contains(e.Tickets, id) {
			r.fail(3, e, "leaves out ticket %s, which is in the match", id)
		}
	}
	one.ended = e
	return true
}

func (r *replay) cancelled(e *history.Event) {
	for _, id := range e.Tickets {
		s := r.status[id]
		switch {
		case s == nil:
			r.fail(0, e, "ticket %s was never created", id)
		case s.state == deleted:
			r.fail(0, e, "ticket %s was deleted before", id)
		case s.state != e.Reason && (e.Reason != "replaced" || s.state == resolved):
			r.fail(0, e, "ticket %s was %s when it was deleted, not %s", id, s.state, e.Reason)
		}
		r.status[id] = &status{state: deleted}
	}
}

// end finds tickets that are still claimed or proposed at the end of the log.
func (r *replay) end() {
	for _, id := range slices.Sorted(maps.Keys(r.status)) {
		if s := r.status[id]; s.state == claimed && !r.isShakenTicket(id) {
			r.open++
			r.broken[5] = append(r.broken[5], fmt.Sprintf("%s: ticket %s is still %s at the end, in %s", r.project, id, s.state,
				s.place()))
		}
	}
}

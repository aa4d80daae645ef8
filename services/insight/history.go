package insight

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/state"
)

const (
	// maxHistory is how many matches a history has, the latest ones.
	maxHistory = 10
	// maxHistoryEvents is how many events of these matches are kept, the latest ones.
	maxHistoryEvents = 1000
	// maxHistoryLook is how many events are looked at for a history, and historyTime how long that may take.
	maxHistoryLook = 200_000
	historyTime    = 2 * time.Second
	// firstLook is how far back the first look goes, and each next one goes lookGrowth times as far: a ticket that waits
	// for long has its latest matches first.
	firstLook  = 5 * time.Second
	lookGrowth = 4
)

// endOf is the end that an event tells of, nil for none.
func endOf(e *pb.Event) *response.TicketEnd {
	end := &response.TicketEnd{Reason: e.GetReason(), Time: formatTime(e.GetTime())}
	switch {
	case e.GetKind() == pb.Event_KIND_CANCELLED && e.GetReason() != "replaced":
		end.Reason = "deleted"
	case e.GetKind() == pb.Event_KIND_EXPIRED && e.GetReason() == "read":
		end.Reason = "expired"
	case e.GetKind() != pb.Event_KIND_CANCELLED && e.GetKind() != pb.Event_KIND_EXPIRED:
		return nil
	}
	return end
}

// ticketMatch is what became of a match in which a ticket was. over: it has ended.
type ticketMatch struct {
	response.TicketMatch
	over bool
}

// History reads the latest matches of a ticket, which was created at a time. It is bounded in events and in time. The
// answer says what it does not know.
func (s *Service) History(ctx context.Context, project, ticket string, created time.Time) *response.TicketHistory {
	now := s.Store.Now().UTC()
	h := &response.TicketHistory{Since: now.Format(time.RFC3339Nano)}
	ctx, leave, err := s.read(ctx, project, historyTime)
	if err != nil {
		h.Error = textOf(err)
		return h
	}
	defer leave()
	r := &historyReader{reading: reading{service: s.service, project: project}, ticket: ticket}
	oldest := created.Add(-clockSlack).UTC()
	for back := firstLook; !h.Complete && len(h.Matches) < maxHistory; back *= lookGrowth {
		since := now.Add(-back)
		if since.Before(oldest) {
			since = oldest
		}
		if err := r.look(ctx, since); err != nil {
			h.Error = textOf(err)
			return h
		}
		h.Since, h.Ended = since.Format(time.RFC3339Nano), r.ended
		matches := matchesOf(r.events, ticket)
		h.Complete = !since.After(oldest) && !r.cut && len(matches) <= maxHistory
		slices.Reverse(matches)
		h.Matches = nil
		for _, one := range matches[:min(len(matches), maxHistory)] {
			h.Matches = append(h.Matches, one.TicketMatch)
		}
		if !since.After(oldest) {
			break
		}
	}
	return h
}

// errTooMuch is why a history ends early.
var errTooMuch = errors.New("more happened before than this may look at in a few seconds: ask for the events of the " +
	"ticket")

// textOf is an error for people.
func textOf(err error) string {
	if p := (*problem.Error)(nil); errors.As(err, &p) {
		return p.Detail
	}
	if errors.Is(err, errTooMuch) {
		return err.Error()
	}
	return "the message bus did not answer in time, try again"
}

// historyReader looks for the matches of a ticket, from the latest events to earlier ones.
type historyReader struct {
	reading
	ticket string
	// before is the first message that was looked at, 0 if there was none.
	before uint64
	looked int
	// events are those that may be about the ticket, in order, and cut tells that there were more.
	events []*pb.Event
	cut    bool
	ended  *response.TicketEnd
}

// look adds the events since a time that were not looked at yet.
func (r *historyReader) look(ctx context.Context, since time.Time) error {
	var found []*pb.Event
	var failure error
	first := uint64(0)
	_, err := r.Bus.ReadEvents(ctx, r.project, bus.EventStart{Since: since}, false, func(m bus.EventMessage) bool {
		if r.before != 0 && m.Sequence >= r.before {
			return false
		}
		first = cmp.Or(first, m.Sequence)
		r.count(ctx, m)
		if r.looked += len(m.GetEvents()); r.looked > maxHistoryLook || ctx.Err() != nil {
			failure = errTooMuch
			return false
		}
		for _, e := range m.GetEvents() {
			if isAbout(e, r.ticket) {
				found = append(found, e)
			} else if end := endOf(e); end != nil && slices.Contains(e.GetTickets(), r.ticket) {
				r.ended = end
			}
		}
		if more := len(found) - maxHistoryEvents; more > 0 {
			r.cut, found = true, slices.Delete(found, 0, more)
		}
		return true
	})
	switch {
	case failure != nil:
		return failure
	case ctx.Err() != nil && r.looked > 0:
		return errTooMuch
	case err != nil:
		return err
	}
	if first != 0 {
		r.before = first
	}
	r.events = append(found, r.events...)
	if more := len(r.events) - maxHistoryEvents; more > 0 {
		r.cut, r.events = true, r.events[more:]
	}
	return nil
}

// isAbout reports whether an event may say what became of a match of a ticket. Those that say that there was no server
// name no tickets, and are rare.
func isAbout(e *pb.Event, ticket string) bool {
	switch e.GetKind() {
	case pb.Event_KIND_FULL:
		return true
	case pb.Event_KIND_CLAIMED, pb.Event_KIND_ALLOCATING, pb.Event_KIND_ASSIGNED, pb.Event_KIND_FAILED,
		pb.Event_KIND_RELEASED:
		return slices.Contains(e.GetTickets(), ticket)
	default:
		return false
	}
}

// matchesOf makes the matches of a ticket out of events.
func matchesOf(events []*pb.Event, ticket string) (all []*ticketMatch) {
	for _, e := range events {
		at := len(all) - 1
		for ; at >= 0; at-- {
			one := all[at]
			if !one.over && one.Match == e.GetMatch() {
				break
			}
		}
		switch {
		case at >= 0:
			all[at].add(e)
		case slices.Contains(e.GetTickets(), ticket):
			one := &ticketMatch{TicketMatch: response.TicketMatch{Match: e.GetMatch(), Config: e.GetConfig(),
				Revision: e.GetRevision(), Function: e.GetFunction(), Upload: e.GetUpload(), Score: scoreOf(e),
				Created: formatTime(e.GetTime())}}
			one.add(e)
			all = append(all, one)
		}
	}
	return all
}

// add adds an event of the match.
func (m *ticketMatch) add(e *pb.Event) {
	if state, over := stateAfter(e); state != "" {
		m.State, m.over = state, over
	}
	m.Failed = m.over && m.State != state.ListedAssigned
	if m.over || e.GetReason() != "" {
		m.Reason, m.Error, m.Detail = e.GetReason(), e.GetError(), e.GetDetail()
	}
	if e.GetBackfill() != "" {
		m.Backfill = e.GetBackfill()
	}
	if m.over {
		m.Ended = formatTime(e.GetTime())
	}
}

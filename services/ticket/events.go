package ticket

import (
	"log/slog"
	"sync"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// events subscribes to the events of the projects whose tickets are followed, and of no others: they say what became of
// a ticket before it has a result, and why it ended. Without them, for instance because events are switched off, a
// follower learns of it by reading.
type events struct {
	hear func(project string, handle func(*pb.Events)) (bus.Subscription, error)
	wake *waiters
	log  *slog.Logger

	mu       sync.Mutex
	projects map[string]*subscription
}

// subscription is a project that is heard of.
type subscription struct {
	streams int
	sub     bus.Subscription // nil when it failed
	failed  bool             // and that was logged
}

// join subscribes to the events of a project until every caller has left.
func (e *events) join(project string) (leave func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.projects[project]
	if h == nil {
		h = new(subscription)
		e.projects[project] = h
	}
	e.listen(project, h)
	h.streams++
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if h.streams--; h.streams > 0 {
			return
		}
		delete(e.projects, project)
		if h.sub != nil {
			h.sub.Stop()
		}
	}
}

// listen subscribes to the events of a project that is not heard of. The caller has the mutex.
func (e *events) listen(project string, h *subscription) {
	if h.sub != nil {
		return
	}
	sub, err := e.hear(project, func(all *pb.Events) {
		for _, one := range all.GetEvents() {
			e.wake.handleEvent(project, one)
		}
	})
	switch {
	case err == nil:
		h.sub = sub
	case !h.failed:
		h.failed = true
		e.log.Warn("the events of a project are not heard", "project", project, "error", err)
	}
}

// retry tries again to hear of a project, if that failed.
func (e *events) retry(project string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h := e.projects[project]; h != nil {
		e.listen(project, h)
	}
}

// follows reports whether the events of a project come.
func (e *events) follows(project string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := e.projects[project]
	return h != nil && h.sub != nil
}

// follow makes a waiter that events wake, too.
func (w *waiters) follow(project, ticket string) *waiter {
	one := w.join(project, ticket)
	w.mu.Lock()
	defer w.mu.Unlock()
	one.follows = true
	return one
}

// handleEvent wakes the followers of an event's tickets, if the event matters to them. When a queue is not served any
// more, it wakes all of a project.
func (w *waiters) handleEvent(project string, e *pb.Event) {
	switch e.GetKind() {
	case pb.Event_KIND_CLAIMED, pb.Event_KIND_RELEASED, pb.Event_KIND_CANCELLED, pb.Event_KIND_EXPIRED,
		pb.Event_KIND_UNSERVED, pb.Event_KIND_ACCEPTED:
	default:
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.GetKind() == pb.Event_KIND_UNSERVED {
		for _, all := range w.waiting {
			for _, one := range all {
				if one.follows && one.project == project {
					one.woken.Notify()
				}
			}
		}
		return
	}
	if e.GetKind() == pb.Event_KIND_ACCEPTED {
		for one := range w.asked[e.GetMatch()] {
			one.woken.Notify()
		}
		return
	}
	for _, id := range e.GetTickets() {
		for _, one := range w.waiting[id] {
			if !one.follows || one.project != project {
				continue
			}
			if e.GetKind() == pb.Event_KIND_CANCELLED || e.GetKind() == pb.Event_KIND_EXPIRED {
				one.end.Store(e)
			}
			one.woken.Notify()
		}
	}
}

// knowsEnd reports whether it is known why the ticket is gone.
func (w *waiter) knowsEnd() bool {
	said := w.notified.Load()
	return w.end.Load() != nil || said != nil && *said != ""
}

// reason is why a ticket is gone, as far as it is known. A deletion notifies, and so does a match that ends tickets; an
// expiry does not.
func (w *waiter) reason(asked bool) string {
	e, said := w.end.Load(), w.notified.Load()
	switch {
	case e.GetKind() == pb.Event_KIND_EXPIRED && e.GetReason() != "read", e.GetReason() == "replaced":
		return e.GetReason() // abandoned, unserved, unheard, declined, silent or replaced
	case e.GetKind() == pb.Event_KIND_EXPIRED:
		return "expired"
	case e == nil && w.knowsEnd():
		return *said
	case e != nil, said != nil && !asked:
		return "deleted"
	}
	return "gone"
}

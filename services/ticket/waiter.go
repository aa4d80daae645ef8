package ticket

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/state"
)

// waiters are the requests that wait for a ticket's result.
type waiters struct {
	// stopped is closed when no request may wait any longer.
	stopped chan struct{}

	mu sync.Mutex
	// waiting has the waiters of each ticket.
	waiting map[string][]*waiter
	// asked has the waiters that answers of players to a match wake, by the match.
	asked map[string]map[*waiter]bool
}

// waiter is one request that waits for a ticket.
type waiter struct {
	all             *waiters
	project, ticket string
	woken           notify.Signal
	// result is the ticket's, if a wake-up had it.
	result atomic.Pointer[pb.Assignment]
	// follows: events wake it, too. end is the event that ended the ticket, and notified that the waiter was woken, with
	// the reason if the ticket ended.
	follows  bool
	end      atomic.Pointer[pb.Event]
	notified atomic.Pointer[string]
	// viewer reads the ticket.
	viewer viewer
	// match is that whose answers wake it; "" for none.
	match string
}

func newWaiters() *waiters {
	return &waiters{stopped: make(chan struct{}), waiting: map[string][]*waiter{}, asked: map[string]map[*waiter]bool{}}
}

// stop ends all waits, and those that begin later. It is called once.
func (w *waiters) stop() { close(w.stopped) }

// wake hands the results of tickets to their waiters, or makes them read.
func (w *waiters) wake(project string, a bus.Assigned) {
	w.mu.Lock()
	defer w.mu.Unlock()
	reason := a.Ended()
	for i, id := range a.Tickets() {
		for _, one := range w.waiting[id] {
			if one.project == project {
				one.result.Store(a.Result(i))
				one.notified.Store(&reason)
				one.woken.Notify()
			}
		}
	}
}

// join makes a waiter of a ticket. What happens to the ticket from here on wakes it, until it leaves.
func (w *waiters) join(project, ticket string) *waiter {
	one := &waiter{all: w, project: project, ticket: ticket, woken: notify.New()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[ticket] = append(w.waiting[ticket], one)
	return one
}

func (w *waiter) leave() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	w.all.forget(w)
	others := slices.DeleteFunc(w.all.waiting[w.ticket], func(one *waiter) bool { return one == w })
	if w.all.waiting[w.ticket] = others; len(others) == 0 {
		delete(w.all.waiting, w.ticket)
	}
}

// recheck is how often a waiter reads its ticket in case a notification was lost.
const recheck = 5 * time.Second

// wait reads a ticket until it has a result, its match asks the viewer, the time is over, the waiters are stopped, or
// reading fails.
func (w *waiters) wait(ctx context.Context, project, id string, wait time.Duration, by viewer,
	read func(context.Context) (*state.Ticket, error)) (*state.Ticket, error) {
	// It joins before the read, so that no result is missed between the two.
	one := w.join(project, id)
	one.viewer = by
	defer one.leave()
	t, err := read(ctx)
	if err != nil {
		return t, err
	}
	return one.await(ctx, t, wait, read)
}

// await goes on from a ticket that was read, or created, after the waiter joined. What it returns with an error is the
// ticket as it was known last. When the request ends, that is no error.
//
// A result in a wake-up is taken as if it had been read: the ticket waited when the request read it, so it got the
// result meanwhile. It may have been deleted again, as it may be after a read.
func (w *waiter) await(ctx context.Context, t *state.Ticket, wait time.Duration,
	read func(context.Context) (*state.Ticket, error)) (*state.Ticket, error) {
	until := time.Now().Add(wait)
	for t.Assignment == nil && !w.viewer.isAsked(t) {
		left := time.Until(until)
		if left <= 0 {
			break
		}
		if !w.woken.Await(ctx, min(left, recheck), w.all.stopped) { // the last look is at the end
			return t, nil
		}
		if result := w.result.Load(); result != nil {
			return &state.Ticket{Body: t.Body, Assignment: result}, nil
		}
		if now, err := read(ctx); err == nil {
			t = now
		} else if ctx.Err() == nil {
			return t, err
		}
	}
	return t, nil
}

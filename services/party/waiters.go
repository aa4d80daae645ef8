package party

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/notify"
	"matchmaker.dev/services/internal/telemetry"
)

// waiters are the requests that are held until a party changes. A project may hold as many as there are free places
// left in all, as in package ticket.
type waiters struct {
	places  int
	open    metric.Int64UpDownCounter
	stopped chan struct{}

	mu       sync.Mutex
	all      int
	projects map[string]int
	waiting  map[key]map[*waiter]struct{}
}

// key is a party of a project.
type key struct{ project, party string }

// waiter is one request that waits for a party.
type waiter struct{ woken notify.Signal }

func newWaiters(places int, m telemetry.Meter) *waiters {
	return &waiters{
		places: places, stopped: make(chan struct{}), projects: map[string]int{},
		waiting: map[key]map[*waiter]struct{}{},
		open: m.UpDownCounter("matchmaker.parties.held", "{request}",
			"Requests that this process holds open until a party changes."),
	}
}

// stop ends all waits, and those that begin later. It is called once.
func (w *waiters) stop() { close(w.stopped) }

func (w *waiters) wake(project, party string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for one := range w.waiting[key{project, party}] {
		one.woken.Notify()
	}
}

// join makes a waiter, nil when there is no place for it.
func (w *waiters) join(ctx context.Context, k key) (one *waiter, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.projects[k.project] >= w.places-w.all {
		return nil, nil
	}
	one = &waiter{notify.New()}
	if w.waiting[k] == nil {
		w.waiting[k] = map[*waiter]struct{}{}
	}
	w.waiting[k][one] = struct{}{}
	w.all++
	w.projects[k.project]++
	w.open.Add(ctx, 1)
	return one, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.waiting[k], one); len(w.waiting[k]) == 0 {
			delete(w.waiting, k)
		}
		w.all--
		if w.projects[k.project]--; w.projects[k.project] == 0 {
			delete(w.projects, k.project)
		}
		w.open.Add(context.WithoutCancel(ctx), -1)
	}
}

// recheck is how often a waiter reads its party in case a notification was lost.
const recheck = 5 * time.Second

// wait reads a party until it is not the known one any more, the time is over, the waiters are stopped, or the request
// ends. It returns the party as it was read last.
func (w *waiters) wait(ctx context.Context, project, id string, wait time.Duration, known *pb.Party,
	load func(context.Context) (*pb.Party, error)) (*pb.Party, error) {
	one, leave := w.join(ctx, key{project, id})
	if one == nil {
		return known, nil
	}
	defer leave()
	until := time.Now().Add(wait)
	for first := true; ; first = false {
		if !first {
			left := time.Until(until)
			if left <= 0 {
				return known, nil
			}
			again := time.NewTimer(min(left, recheck))
			select {
			case <-one.woken.C():
			case <-again.C:
			case <-w.stopped:
				again.Stop()
				return known, nil
			case <-ctx.Done():
				again.Stop()
				return known, nil
			}
			again.Stop()
		}
		// The first read is after joining, so that no change is missed between the two.
		if p, err := load(ctx); err != nil || p.GetRevision() != known.GetRevision() {
			return p, err
		}
	}
}

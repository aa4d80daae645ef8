package party

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/notify"
	"matchmaker.dev/services/internal/telemetry"
)

// waiters are the requests that are held until a party changes, and the streams of its events. A project may hold as
// many requests as there are free places left in all, see stream.Places.
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

// waiter is one request, or stream, of a player that waits for a party.
type waiter struct {
	player string
	woken  notify.Signal
	// reason is why the player is no member any more, as far as that is known; nil when it is not.
	reason atomic.Pointer[string]
}

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

// wake wakes those who wait for a party, and tells them why they are no members any more.
func (w *waiters) wake(project string, changed *pb.PartyChanged) {
	w.mu.Lock()
	defer w.mu.Unlock()
	reason := changed.GetReason()
	for one := range w.waiting[key{project, changed.GetParty()}] {
		if reason != "" && slices.Contains(changed.GetGone(), one.player) {
			one.reason.Store(&reason)
		}
		one.woken.Notify()
	}
}

// join makes a waiter of a player. Changes of the party from here on wake it, until it leaves.
func (w *waiters) join(k key, player string) (one *waiter, leave func()) {
	one = &waiter{player: player, woken: notify.New()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[k] == nil {
		w.waiting[k] = map[*waiter]struct{}{}
	}
	w.waiting[k][one] = struct{}{}
	return one, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.waiting[k], one); len(w.waiting[k]) == 0 {
			delete(w.waiting, k)
		}
	}
}

// hold takes a place for a request that is held. release is nil when there is none.
func (w *waiters) hold(ctx context.Context, project string) (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.projects[project] >= w.places-w.all {
		return nil
	}
	w.all++
	w.projects[project]++
	w.open.Add(ctx, 1)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all--
		if w.projects[project]--; w.projects[project] == 0 {
			delete(w.projects, project)
		}
		w.open.Add(context.WithoutCancel(ctx), -1)
	}
}

// recheck is how often a waiter reads its party in case a notification was lost.
const recheck = 5 * time.Second

// wait reads a party until it is not the known one any more, the time is over, the waiters are stopped, or the request
// ends. It returns the party as it was read last.
func (w *waiters) wait(ctx context.Context, project string, wait time.Duration, known *pb.Party,
	load func(context.Context) (*pb.Party, error)) (*pb.Party, error) {
	release := w.hold(ctx, project)
	if release == nil {
		return known, nil
	}
	defer release()
	one, leave := w.join(key{project, known.GetId()}, "")
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

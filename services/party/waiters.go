package party

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/notify"
)

// waiters are the requests that are held until a party changes, and the streams of its events.
type waiters struct {
	// places limit held requests.
	places  *stream.Places
	stopped chan struct{}
	// recheck is how often a waiter reads its party in case a notification was lost.
	recheck time.Duration

	mu      sync.Mutex
	waiting map[key]map[*waiter]struct{}
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

// longestRecheck is how often a waiter reads its party, at least.
const longestRecheck = 5 * time.Second

// heldPlayer is how many requests of one player are held.
const heldPlayer = 16

func newWaiters(places int, attention time.Duration, m telemetry.Meter) *waiters {
	open := m.UpDownCounter("matchmaker.parties.held", "{request}",
		"Requests that this process holds open until a party changes.")
	uncounted := telemetry.Meter{}.Counter("refused", "", "")
	return &waiters{
		places:  stream.NewPlaces(places, heldPlayer, open, uncounted),
		stopped: make(chan struct{}), recheck: min(longestRecheck, attention), waiting: map[key]map[*waiter]struct{}{},
	}
}

// stop ends all waits, and those that begin later. It is called once.
func (w *waiters) stop() { close(w.stopped) }

// wake wakes the requests that wait for a party, with the reason for players that are members no more.
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

// wait reads a party until it is not the known one any more, the time is over, the waiters are stopped, or the request
// ends. It returns the party as it was read last. It is not held if too many requests are.
func (w *waiters) wait(ctx context.Context, project, player string, wait time.Duration, known *pb.Party,
	load func(context.Context) (*pb.Party, error)) (p *pb.Party, held bool, err error) {
	release := w.places.Take(ctx, project, player)
	if release == nil {
		return known, false, nil
	}
	defer release()
	one, leave := w.join(key{project, known.GetId()}, "")
	defer leave()
	until := time.Now().Add(wait)
	for first := true; ; first = false {
		if !first {
			left := time.Until(until)
			if left <= 0 || !one.woken.Await(ctx, min(left, w.recheck), w.stopped) {
				return known, true, nil
			}
		}
		// The first read is after joining, so that no change is missed between the two.
		if p, err := load(ctx); err != nil || p.GetRevision() != known.GetRevision() {
			return p, true, err
		}
	}
}

package ticket

import (
	"context"
	"sync"
	"time"

	"matchmaker.dev/services/internal/state"
)

// waiters are the requests that wait for a ticket's result.
type waiters struct {
	// stopped is closed when no request may wait any longer.
	stopped chan struct{}

	mu      sync.Mutex
	waiting map[string][]chan struct{}
}

func newWaiters() *waiters {
	return &waiters{stopped: make(chan struct{}), waiting: map[string][]chan struct{}{}}
}

// stop ends all waits, and those that begin later. It is called once.
func (w *waiters) stop() { close(w.stopped) }

// wake ends the wait for tickets. Their project does not matter: a waiter reads its ticket again.
func (w *waiters) wake(_ string, tickets []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range tickets {
		for _, c := range w.waiting[id] {
			close(c)
		}
		delete(w.waiting, id)
	}
}

// recheck is how often a waiter reads its ticket in case a notification was lost.
const recheck = 5 * time.Second

// wait reads a ticket until it has a result, the time is over, the waiters are stopped, or reading fails.
func (w *waiters) wait(ctx context.Context, id string, wait time.Duration,
	read func(context.Context) (*state.Ticket, error)) (*state.Ticket, error) {
	until := time.Now().Add(wait)
	for {
		// Registered before the read, so that no result is missed between the two.
		woken := w.register(id)
		t, err := read(ctx)
		left := time.Until(until)
		if err != nil || t.Assignment != nil || left <= 0 {
			w.unregister(id, woken)
			return t, err
		}
		again := time.NewTimer(min(left, recheck))
		select {
		case <-woken:
			again.Stop()
			continue
		case <-again.C: // the last look is at the end
			w.unregister(id, woken)
			continue
		case <-w.stopped:
		case <-ctx.Done():
		}
		again.Stop()
		w.unregister(id, woken)
		return t, nil
	}
}

func (w *waiters) register(id string) chan struct{} {
	c := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[id] = append(w.waiting[id], c)
	return c
}

func (w *waiters) unregister(id string, c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.waiting[id]
	for i := range list {
		if list[i] == c {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(w.waiting, id)
		return
	}
	w.waiting[id] = list
}

package allocator

import (
	"context"
	"sync"

	"matchmaker.dev/services/allocator/provider"
)

// lanes share an allocator's hands between fleets, so that one whose hosting system hangs holds up itself alone.
//
// A fleet has at most so many allocations under way at once; more of its matches wait in the lane, and what does not fit
// goes back to the queue. How many fit depends on how many hands are free: a lane may have as many in hand as are left over. One
// fleet that hangs takes half of the hands, n of them leave a share of 1/(n+1) to the others.
type lanes struct {
	hands int // of all lanes together
	each  int // allocations of one lane under way

	mu    sync.Mutex
	taken int
	open  map[laneKey]*lane
}

// laneKey is what counts as one fleet.
type laneKey struct{ project, profile, fleet string }

// lane is the matches of one fleet that are in hand.
type lane struct {
	key    laneKey
	slots  chan struct{}
	inHand int // guarded by the lanes' mu
	polls  poller
}

func newLanes(hands, each int) *lanes {
	return &lanes{hands: hands, each: each, open: map[laneKey]*lane{}}
}

// enter takes a hand for a match of a fleet. It is nil when there is none left for this fleet. Leave afterwards.
func (l *lanes) enter(project string, h provider.Hosting) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := laneKey{project, h.Profile, h.Fleet}
	in := l.open[key]
	if in == nil {
		in = &lane{key: key, slots: make(chan struct{}, l.each)}
	}
	if in.inHand >= l.hands-l.taken {
		return nil
	}
	l.open[key] = in
	in.inHand++
	l.taken++
	return in
}

func (l *lanes) leave(in *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in.inHand--
	l.taken--
	if in.inHand == 0 {
		delete(l.open, in.key)
	}
}

// start waits for its turn among the allocations of the fleet. Done afterwards, unless it failed.
func (in *lane) start(ctx context.Context) error {
	select {
	case in.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (in *lane) done() { <-in.slots }

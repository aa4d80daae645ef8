package allocator

import (
	"context"
	"sync"
	"time"

	"matchmaker.dev/services/allocator/provider"
)

// lanes share an allocator's hands between fleets, so that one whose hosting system hangs holds up itself alone.
//
// A fleet has at most so many allocations under way at once; more of its matches wait in the lane. How many fit depends on how many
// hands are free: a lane may have as many in hand as are left over. One fleet that hangs takes half of the hands, n of them leave a
// share of 1/(n+1) to the others. What does not fit waits at the lane's entry, where it moves so fast that there soon will be a
// place; otherwise it goes back to the queue, for as long as the lane should take. To and fro costs more than the allocation itself:
// with a crowd in the queue that is all that an allocator would do.
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
	key   laneKey
	slots chan struct{}
	polls poller
	// entry wakes one of those who wait there.
	entry chan struct{}

	// guarded by the lanes' mu
	inHand, waiting int
	left            time.Time     // when the last one left; zero before
	pace            time.Duration // about how long there is between two that leave
}

func newLanes(hands, each int) *lanes {
	return &lanes{hands: hands, each: each, open: map[laneKey]*lane{}}
}

// soon is how long a match may wait at the entry of a lane, in a hand that others could have.
const soon = time.Second

// enter takes a hand for a match of a fleet. It is nil when there is none for this fleet soon; then there should be one in a
// while, or nobody knows when (0). Leave afterwards.
func (l *lanes) enter(ctx context.Context, project string, h provider.Hosting) (in *lane, again time.Duration) {
	key := laneKey{project, h.Profile, h.Fleet}
	over := time.NewTimer(soon)
	defer over.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		in := l.open[key]
		if in == nil {
			in = &lane{key: key, slots: make(chan struct{}, l.each), entry: make(chan struct{}, 1)}
		}
		if in.inHand < l.hands-l.taken {
			l.open[key] = in
			in.inHand++
			l.taken++
			in.wake() // there may be room for one more: those who leave at once wake one
			return in, 0
		}
		if again = in.expect(); again == 0 || again > soon {
			return nil, again
		}
		in.waiting++
		l.mu.Unlock()
		waits := true
		select {
		case <-in.entry:
		case <-over.C:
			waits = false
		case <-ctx.Done():
			waits = false
		}
		l.mu.Lock()
		in.waiting--
		if !waits {
			l.close(in)
			return nil, in.expect()
		}
	}
}

func (l *lanes) leave(in *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !in.left.IsZero() {
		if gap := now.Sub(in.left); in.pace == 0 {
			in.pace = gap
		} else {
			in.pace += (gap - in.pace) / 16
		}
	}
	in.left = now
	in.inHand--
	l.taken--
	l.close(in)
	in.wake()
}

// wake lets one of those who wait at the entry look again.
func (in *lane) wake() {
	if in.waiting == 0 {
		return
	}
	select {
	case in.entry <- struct{}{}:
	default:
	}
}

// close forgets a lane that nobody is in, or waits to be.
func (l *lanes) close(in *lane) {
	if in.inHand == 0 && in.waiting == 0 {
		delete(l.open, in.key)
	}
}

// expect is how long it should take until all those before are through; 0 when none has left yet. A lane that nobody left
// for a while may hang.
func (in *lane) expect() time.Duration {
	if in.left.IsZero() {
		return 0
	}
	return max(in.pace, time.Since(in.left)) * time.Duration(in.inHand+in.waiting)
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

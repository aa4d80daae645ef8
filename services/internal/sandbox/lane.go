package sandbox

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/services/internal/usage"
)

// lanes let modules be compiled one after the other, fairly by owner: next is the one whose owner had the least
// processor time lately, with what the module itself is expected to take, and then the one that came first. So among
// owners who had nothing the small module is next, however many strangers came before. Each module tries the quick lane
// first, where nobody stays long. What is not done then goes to the slow lane, where it delays slow modules alone. So
// an owner who uploads a small module now and then waits for whoever is in the quick lane, and for nobody's queue.
type lanes struct {
	now         func() time.Time
	quick, slow lane

	mu    sync.Mutex
	usage usage.Ledger
	order uint64 // of arrivals
}

// lane has a number of places and a queue.
type lane struct {
	places  int
	running []*turn
	waiting []*turn
}

// turn is a place in a lane, or the wish for one.
type turn struct {
	lane    *lane
	owners  map[string]bool // who wants it: the one who had least counts
	expects time.Duration   // of processor time
	order   uint64
	granted chan struct{} // closed when it may go
	since   time.Time     // when it was granted
}

// usageHalfLife is long against the time that a module takes in the slow lane. So who fills the lanes stays behind
// those who do not, also while his next upload is on its way.
const usageHalfLife = 10 * time.Minute

func newLanes(quick int, now func() time.Time) *lanes {
	return &lanes{
		now: now, quick: lane{places: quick}, slow: lane{places: 1}, usage: usage.Ledger{HalfLife: usageHalfLife},
	}
}

// enter waits for a place in a lane. leave gives it back. The owners may grow while it waits; see join.
func (l *lanes) enter(
	ctx context.Context, in *lane, owners map[string]bool, expects time.Duration,
) (*turn, error) {
	l.mu.Lock()
	l.order++
	t := &turn{lane: in, owners: owners, expects: expects, order: l.order, granted: make(chan struct{})}
	in.waiting = append(in.waiting, t)
	l.grant(in)
	l.mu.Unlock()
	select {
	case <-t.granted:
		return t, nil
	case <-ctx.Done():
		l.leave(t)
		return nil, ctx.Err()
	}
}

// leave gives up a place, or the wish for one.
func (l *lanes) leave(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(other *turn) bool { return other == t }
	t.lane.running = slices.DeleteFunc(t.lane.running, same)
	t.lane.waiting = slices.DeleteFunc(t.lane.waiting, same)
	l.grant(t.lane)
}

// join adds an owner to those who want a turn.
func (l *lanes) join(owners map[string]bool, owner string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	owners[owner] = true
}

// startTurn is how long a start holds its place. An instance of a Go module takes 0.2 s on a slow machine. One that
// takes longer goes on without a place, so that modules that are slow on purpose are in nobody's way.
const startTurn = time.Second

// startPlaces is how many instances start at a time: starting computes, so more of them only take longer, each of them.
func startPlaces() int { return max(2, runtime.GOMAXPROCS(0)) }

// enterStart waits until an instance of an owner may start. Otherwise all functions of a runner that came back would
// start at once, none within its time, and again and again. The owner who had the least time lately is next. started
// must be called when the instance has started or failed.
func (b *Box) enterStart(ctx context.Context, owner string) (started func(), err error) {
	t, err := b.starts.enter(ctx, &b.starts.quick, map[string]bool{owner: true}, 0)
	if err != nil {
		return nil, err
	}
	leave := sync.OnceFunc(func() {
		b.starts.charge(owner, t, 0)
		b.starts.leave(t)
	})
	late := time.AfterFunc(startTurn, leave)
	return func() {
		late.Stop()
		leave()
	}, nil
}

// charge adds what a turn took to what its owner had: its processor time, or the time that it held its place, which is
// more when it slept.
func (l *lanes) charge(owner string, t *turn, spent time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.usage.Add(owner, max(spent, now.Sub(t.since)), now)
}

// grant gives free places to who is next. The caller has the lock.
func (l *lanes) grant(in *lane) {
	for len(in.running) < in.places && len(in.waiting) > 0 {
		now := l.now()
		best, least := 0, time.Duration(math.MaxInt64)
		for i, t := range in.waiting {
			if had := l.had(t, now) + t.expects; had < least { // the first of those with the same
				best, least = i, had
			}
		}
		next := in.waiting[best]
		in.waiting = slices.Delete(in.waiting, best, best+1)
		in.running = append(in.running, next)
		next.since = now
		close(next.granted)
	}
}

// had is what the owner of a turn had who had least, what runs of him included.
func (l *lanes) had(t *turn, now time.Time) time.Duration {
	least := time.Duration(math.MaxInt64)
	for owner := range t.owners {
		had := l.usage.Of(owner, now)
		for _, in := range []*lane{&l.quick, &l.slow} {
			for _, r := range in.running {
				if r.owners[owner] {
					had += max(now.Sub(r.since), time.Millisecond) // one that has just begun counts as well
				}
			}
		}
		least = min(least, had)
	}
	return least
}

// Queued is how many modules wait for their turn to be compiled, in each lane.
func (b *Box) Queued() (quick, slow int) {
	b.lanes.mu.Lock()
	defer b.lanes.mu.Unlock()
	return len(b.lanes.quick.waiting), len(b.lanes.slow.waiting)
}

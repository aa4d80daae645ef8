package allocator

import (
	"context"
	"sync"
	"time"

	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/platform/notify"
)

// limiter limits how many matches an allocator works on, in all, per project and per fleet. A fleet whose hosting
// system hangs delays its own matches only.
//
// A fleet may have as many matches admitted as there are free places left in all, and a project twice as many. So one
// fleet that hangs takes half of the places, and a project with any number of them two thirds; n projects leave a share
// of 1/(2n+1) to the others. Of the admitted matches of a fleet only perFleet allocate at once; the others wait.
//
// A match that is not admitted waits here if its fleet moves so fast that there will be a place soon. Otherwise it goes
// back to the work queue for about as long as its fleet needs. Going to the queue and back costs more than the
// allocation itself: under load, an allocator that sent all of them back would do nothing else.
type limiter struct {
	places   int // admitted matches in all
	perFleet int // concurrent allocations of a fleet

	mu       sync.Mutex
	admitted int
	projects map[string]int // admitted matches of each project
	fleets   map[fleetKey]*fleet
}

// fleetKey is what counts as one fleet.
type fleetKey struct{ project, profile, fleet string }

// fleet is the admitted matches of one fleet, and those that wait to be.
type fleet struct {
	key   fleetKey
	slots chan struct{} // one per concurrent allocation
	polls poller
	// vacancy wakes one match that waits to be admitted.
	vacancy notify.Signal

	// guarded by the limiter's mu
	admitted, waiting int
	left              time.Time     // when a match left last; zero before
	interval          time.Duration // the average time between two that leave
}

func newLimiter(places, perFleet int) *limiter {
	return &limiter{places: places, perFleet: perFleet, projects: map[string]int{}, fleets: map[fleetKey]*fleet{}}
}

// maxWait is how long a match may wait to be admitted.
const maxWait = time.Second

// admit takes a place for a match of a fleet; call leave afterwards. The fleet is nil when there will be no place
// within maxWait. Then the match should come again after a while; 0 when it is not known how long.
func (l *limiter) admit(ctx context.Context, project string, h provider.Hosting) (f *fleet, again time.Duration) {
	key := fleetKey{project, h.Profile, h.Fleet}
	var late <-chan time.Time
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		f := l.fleets[key]
		if f == nil {
			f = &fleet{key: key, slots: make(chan struct{}, l.perFleet), vacancy: notify.New()}
		}
		if free := l.places - l.admitted; f.admitted < free && l.projects[project] < 2*free {
			l.fleets[key] = f
			f.admitted++
			l.projects[project]++
			l.admitted++
			f.vacancy.Notify() // there may be room for one more: two that leave at once notify only once
			return f, 0
		}
		if again = f.delay(); again == 0 || again > maxWait {
			return nil, again
		}
		f.waiting++
		l.mu.Unlock()
		if late == nil {
			late = time.After(maxWait)
		}
		ended := false
		select {
		case <-f.vacancy.C():
		case <-late:
			ended = true
		case <-ctx.Done():
			ended = true
		}
		l.mu.Lock()
		f.waiting--
		if ended {
			l.removeIdle(f)
			return nil, f.delay()
		}
	}
}

// leave gives back the place of a match.
func (l *limiter) leave(f *fleet) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if !f.left.IsZero() {
		if gap := now.Sub(f.left); f.interval == 0 {
			f.interval = gap
		} else {
			f.interval += (gap - f.interval) / 16
		}
	}
	f.left = now
	f.admitted--
	l.admitted--
	if l.projects[f.key.project]--; l.projects[f.key.project] == 0 {
		delete(l.projects, f.key.project)
	}
	l.removeIdle(f)
	f.vacancy.Notify()
}

// removeIdle forgets a fleet without matches.
func (l *limiter) removeIdle(f *fleet) {
	if f.admitted == 0 && f.waiting == 0 {
		delete(l.fleets, f.key)
	}
}

// delay is how long it should take until all present matches have left; 0 when none has left yet. A fleet that none has
// left for a while may hang.
func (f *fleet) delay() time.Duration {
	if f.left.IsZero() {
		return 0
	}
	return max(f.interval, time.Since(f.left)) * time.Duration(f.admitted+f.waiting)
}

// acquire waits until the match may allocate. Call release afterwards, unless it failed.
func (f *fleet) acquire(ctx context.Context) error {
	select {
	case f.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *fleet) release() { <-f.slots }

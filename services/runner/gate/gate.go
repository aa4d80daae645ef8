// Package gate decides which of the runs that wait on a runner begins next, and where.
//
// A run begins when it has a slot of the runner and a worker, which is an instance of its function. Slots bound how
// many runs a runner works on at a time. The order is fair: the project that was charged least goes first, and of its
// configs the one that was charged least. What a run is charged is known when it ended. A project or config that was
// idle starts beside the least charged one: it is not owed what it did not use.
//
// Order alone does not help a run of a millisecond that waits for one of five seconds. So runs are told apart by their
// length, as recent runs of their config had it, see [length]:
//
//   - As long as brief runs come, all others together leave one slot free. As long as a function has shorter runs, its
//     longer ones together leave one of its workers free.
//   - When all slots are taken, a run may begin beyond them if no run of its length is under way. So each length has a
//     lane of its own in which nothing longer stands. A config whose run is longer than expected has no such right
//     meanwhile, nor have the configs of a project with many such runs.
//
// Without brief runs, long ones have all slots.
package gate

import (
	"slices"
	"sync"
	"time"
)

// Gate is the gate of a runner. T is what the runner knows of a run.
type Gate[T any] struct {
	slots int

	mu       sync.Mutex
	projects map[string]*project[T]
	under    []*Run[T] // those that began and are not done
	waiting  int
	arrivals uint64
	virtual  time.Duration // charge at which the last run began
	brief    lastRun[T]    // the last brief run
	swept    time.Time
	timer    *time.Timer // of the next time when a run may begin because time passed
}

// recent is how long one short run makes others leave room for the next.
const recent = 10 * time.Second

// New makes a gate with a number of slots.
func New[T any](slots int) *Gate[T] {
	return &Gate[T]{slots: slots, projects: map[string]*project[T]{}}
}

// Usage returns how many runs are under way and how many slots there are.
func (g *Gate[T]) Usage() (under, slots int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.under), g.slots
}

// update changes the gate, and lets runs begin that may begin now.
func (g *Gate[T]) update(change func(now time.Time)) {
	now := time.Now()
	g.mu.Lock()
	change(now)
	lacking := g.dispatch(now)
	g.sweep(now)
	g.mu.Unlock()
	for _, f := range lacking {
		f.lacking()
	}
}

// dispatch lets runs begin. It returns the functions that have too few workers for the runs that wait.
func (g *Gate[T]) dispatch(now time.Time) []*Function[T] {
	var lacking []*Function[T]
	for g.waiting > 0 {
		best := g.next(now, &lacking)
		if best == nil {
			break
		}
		best.pop().begin(now)
	}
	g.wake(now)
	return lacking
}

// next is the config whose run begins next, nil when none may.
func (g *Gate[T]) next(now time.Time, lacking *[]*Function[T]) (best *config[T]) {
	lengths := g.lengths(now)
	for _, p := range g.projects {
		for _, c := range p.queued {
			if best != nil && !c.before(best) || !g.hasSlot(c, &lengths, now) {
				continue
			}
			if c.function.hasWorker(c, now) {
				best = c
			} else if !slices.Contains(*lacking, c.function) {
				*lacking = append(*lacking, c.function)
			}
		}
	}
	return best
}

// lengths counts the runs under way by length.
func (g *Gate[T]) lengths(now time.Time) (counts [endless + 1]int) {
	for _, r := range g.under {
		counts[r.lengthAt(now)]++
	}
	return counts
}

// hasSlot reports whether a run of a config may have a slot beside the runs of these lengths.
func (g *Gate[T]) hasSlot(c *config[T], lengths *[endless + 1]int, now time.Time) bool {
	l, under := c.length(), len(g.under)
	mayTakeLast := l == brief || under-lengths[brief] < g.slots-1 || !g.brief.concerns(c, now)
	return under < g.slots && mayTakeLast || lengths[l] == 0 && !g.late(c, now)
}

// lateFactor is how many slots a project may have late runs of configs that were known, before none of its known
// configs goes beyond the slots.
const lateFactor = 4

// late reports whether a config has a run that is longer than expected, or there are too many others. Late runs of
// known configs count within their project. Late runs of new configs count over all projects, since each may hang and
// projects are many; they do not count against configs that were seen: these go on.
func (g *Gate[T]) late(c *config[T], now time.Time) bool {
	late, most := 0, g.slots
	if c.known {
		most *= lateFactor
	}
	for _, r := range g.under {
		switch {
		case r.lengthAt(now) <= r.expected:
		case r.config == c:
			return true
		case r.known == c.known && (!c.known || r.config.project == c.project):
			late++
		}
	}
	return late >= most
}

// wake makes the gate look again when a run may begin because time passed: a run under way becomes longer than it was,
// or no short run came for a while.
func (g *Gate[T]) wake(now time.Time) {
	if g.waiting == 0 {
		if g.timer != nil {
			g.timer.Stop()
		}
		return
	}
	next := recent
	soon := func(d time.Duration) {
		if d > 0 {
			next = min(next, d)
		}
	}
	for _, r := range g.under {
		soon(r.lengthAt(now).end() - now.Sub(r.began))
	}
	soon(recent - now.Sub(g.brief.at))
	for _, p := range g.projects {
		for _, c := range p.queued {
			for _, seen := range c.function.seen {
				soon(recent - now.Sub(seen.at))
			}
		}
	}
	if g.timer == nil {
		g.timer = time.AfterFunc(next, func() { g.update(func(time.Time) {}) })
	} else {
		g.timer.Reset(next)
	}
}

// How long the gate remembers unused configs and projects, and how often it looks for them.
const (
	forget     = 10 * time.Minute
	sweepPause = time.Minute
)

// sweep forgets configs and projects that were not used for long.
func (g *Gate[T]) sweep(now time.Time) {
	if now.Sub(g.swept) < sweepPause {
		return
	}
	g.swept = now
	for name, p := range g.projects {
		for key, c := range p.configs {
			if c.under == 0 && len(c.queue) == 0 && now.Sub(c.used) >= forget {
				delete(p.configs, key)
			}
		}
		if len(p.configs) == 0 {
			delete(g.projects, name)
		}
	}
}

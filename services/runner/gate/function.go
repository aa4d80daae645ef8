package gate

import (
	"slices"
	"time"
)

// Function is a function at the gate, with its workers.
type Function[T any] struct {
	gate          *Gate[T]
	project, name string
	lacking       func()

	// The gate's lock guards these:
	most    int                 // workers that it may have
	free    []*Worker[T]        // the one that worked last is the last
	under   int                 // runs under way
	waiting int                 // runs that wait
	seen    [endless]lastRun[T] // its last run of each length
}

// Function returns a function, which may have so many workers. lacking is called, from any goroutine and often, while a
// run waits that could begin if there were one more worker.
func (g *Gate[T]) Function(project, name string, most int, lacking func()) *Function[T] {
	return &Function[T]{gate: g, project: project, name: name, most: most, lacking: lacking}
}

// SetMost changes how many workers the function may have.
func (f *Function[T]) SetMost(n int) { f.gate.update(func(time.Time) { f.most = n }) }

// Waiting is how many runs wait.
func (f *Function[T]) Waiting() int {
	f.gate.mu.Lock()
	defer f.gate.mu.Unlock()
	return f.waiting
}

// Idle reports whether no run is under way, and none waits.
func (f *Function[T]) Idle() bool {
	f.gate.mu.Lock()
	defer f.gate.mu.Unlock()
	return f.under == 0 && f.waiting == 0
}

// HasFreeWorker reports whether a worker is free. Runs that wait nevertheless wait for a slot.
func (f *Function[T]) HasFreeWorker() bool {
	f.gate.mu.Lock()
	defer f.gate.mu.Unlock()
	return len(f.free) > 0
}

// Enter lets a run of a config wait.
func (f *Function[T]) Enter(config string, value T) *Run[T] {
	r := &Run[T]{Value: value, function: f, taken: make(chan struct{})}
	f.gate.update(func(now time.Time) {
		f.gate.arrivals++
		r.arrival, r.config = f.gate.arrivals, f.config(config)
		r.config.note(now)
		r.config.push(r)
	})
	return r
}

// hasWorker reports whether a run of a config may have a worker. All runs that are longer than the shortest ones of the
// function together leave one for these, if it may have a second worker.
func (f *Function[T]) hasWorker(c *config[T], now time.Time) bool {
	if len(f.free) == 0 {
		return false
	}
	shortest := slices.IndexFunc(f.seen[:c.length()], func(s lastRun[T]) bool { return s.concerns(c, now) })
	if f.most < 2 || shortest < 0 {
		return true
	}
	longer := 0
	for _, r := range f.gate.under {
		if r.function == f && r.lengthAt(now) > length(shortest) {
			longer++
		}
	}
	return len(f.free)+f.under-longer >= 2
}

// takeWorker takes the free worker that suits a run, and of several the one that worked last: its memory is in the
// caches, and the others can be ended.
func (f *Function[T]) takeWorker(value T) *Worker[T] {
	at := len(f.free) - 1
	for i := at; i >= 0; i-- {
		if w := f.free[i]; w.suits != nil && w.suits(value) {
			at = i
			break
		}
	}
	w := f.free[at]
	f.free = slices.Delete(f.free, at, at+1)
	return w
}

// Worker is an instance of a function at the gate. It does one run after another.
type Worker[T any] struct {
	function *Function[T]
	runs     chan *Run[T] // has room for one
	suits    func(value T) bool
}

// Worker returns a worker, which is ready. Of the free workers, a run goes to one that suits it. suits is called while
// the worker is free, with the gate's lock; nil suits none.
func (f *Function[T]) Worker(suits func(value T) bool) *Worker[T] {
	w := &Worker[T]{function: f, runs: make(chan *Run[T], 1), suits: suits}
	f.gate.update(func(time.Time) { w.ready() })
	return w
}

// Runs gets the runs, one at a time: the next one after Done of the one before.
func (w *Worker[T]) Runs() <-chan *Run[T] { return w.runs }

// ready gives the worker the next run.
func (w *Worker[T]) ready() { w.function.free = append(w.function.free, w) }

// Leave ends a worker. It returns the run that the worker was given and did not take from Runs, nil when there is none.
func (w *Worker[T]) Leave() (last *Run[T]) {
	w.function.gate.update(func(time.Time) {
		w.function.free = slices.DeleteFunc(w.function.free, func(other *Worker[T]) bool { return other == w })
		select {
		case last = <-w.runs:
		default:
		}
	})
	return last
}

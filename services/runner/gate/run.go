package gate

import (
	"slices"
	"time"
)

// Run is a run at the gate.
type Run[T any] struct {
	Value T

	function *Function[T]
	config   *config[T]
	arrival  uint64
	taken    chan struct{} // closed when it began

	// Since it began:
	began    time.Time
	expected length
	known    bool          // the config had runs before
	assumed  time.Duration // what it is charged until it is done
}

// Taken is closed when the run began: a worker has it.
func (r *Run[T]) Taken() <-chan struct{} { return r.taken }

// Cancel takes a run that waits away. It returns false when a worker has it.
func (r *Run[T]) Cancel() (canceled bool) {
	r.function.gate.update(func(time.Time) { canceled = r.config.drop(r) })
	return canceled
}

// begin gives the run a slot and a worker.
func (r *Run[T]) begin(now time.Time) {
	c, g := r.config, r.function.gate
	g.virtual = c.project.tally.at(g.virtual)
	c.project.virtual = c.tally.at(c.project.virtual)
	c.project.tally, c.tally = tally(g.virtual), tally(c.project.virtual)
	r.began, r.expected, r.known, r.assumed = now, c.length(), c.known, c.took
	c.charge(r.assumed)
	c.under++
	g.under = append(g.under, r)
	r.function.under++
	close(r.taken)
	r.function.takeWorker(r.Value).runs <- r
}

// Done ends a run that took so long. Its worker gets the next one unless it is nil.
func (r *Run[T]) Done(took time.Duration, w *Worker[T]) {
	c, g := r.config, r.function.gate
	g.update(func(now time.Time) {
		g.under = slices.DeleteFunc(g.under, func(other *Run[T]) bool { return other == r })
		r.function.under--
		c.under--
		c.charge(took - r.assumed)
		c.learn(took)
		c.note(now)
		if w != nil {
			w.ready()
		}
	})
}

// lengthAt is the length of a run under way, which is at least how long it takes already.
func (r *Run[T]) lengthAt(now time.Time) length { return max(r.expected, lengthOf(now.Sub(r.began))) }

// note notes that a run of the config came or ended.
func (c *config[T]) note(now time.Time) {
	c.used = now
	l := c.length()
	if l == brief {
		c.gate.brief = lastRun[T]{now, c}
	}
	if l < endless {
		c.function.seen[l] = lastRun[T]{now, c}
	}
}

package gate

import (
	"cmp"
	"slices"
	"time"
)

// tally is what a project or a config was charged. It is virtual time: when all are charged alike, all tallies grow
// alike.
type tally time.Duration

// at is where the next run begins: none begins before the virtual time.
func (t tally) at(virtual time.Duration) time.Duration { return max(time.Duration(t), virtual) }

// project is a project that has runs, or had some lately.
type project[T any] struct {
	tally   tally
	virtual time.Duration // the charge at which the last of its runs began, among its configs
	configs map[configKey]*config[T]
	queued  []*config[T] // those with runs that wait
}

type configKey struct{ function, config string }

// config is a config that has runs, or had some lately.
type config[T any] struct {
	estimate
	gate     *Gate[T]
	project  *project[T]
	function *Function[T]
	tally    tally
	queue    []*Run[T]
	under    int       // runs under way
	used     time.Time // last
}

// config returns a config of a function.
func (f *Function[T]) config(name string) *config[T] {
	p := f.gate.projects[f.project]
	if p == nil {
		p = &project[T]{configs: map[configKey]*config[T]{}}
		f.gate.projects[f.project] = p
	}
	key := configKey{f.name, name}
	c := p.configs[key]
	if c == nil {
		c = &config[T]{gate: f.gate, project: p}
		p.configs[key] = c
	}
	c.function = f // the function may have left this runner meanwhile, and come back
	return c
}

// before reports whether the next run of c goes before the next run of other: the project that was charged less, then
// its config that was charged less, then the run that came first.
func (c *config[T]) before(other *config[T]) bool {
	if c.project == other.project {
		v := c.project.virtual
		return cmp.Or(cmp.Compare(c.tally.at(v), other.tally.at(v)), c.arrival(other)) < 0
	}
	v := c.gate.virtual
	return cmp.Or(cmp.Compare(c.project.tally.at(v), other.project.tally.at(v)), c.arrival(other)) < 0
}

func (c *config[T]) arrival(other *config[T]) int {
	return cmp.Compare(c.queue[0].arrival, other.queue[0].arrival)
}

// push puts a run at the end of the queue.
func (c *config[T]) push(r *Run[T]) {
	if len(c.queue) == 0 {
		c.project.queued = append(c.project.queued, c)
	}
	c.queue = append(c.queue, r)
	c.gate.waiting++
	c.function.waiting++
}

// pop takes the first run out of the queue.
func (c *config[T]) pop() *Run[T] {
	r := c.queue[0]
	c.drop(r)
	return r
}

// drop takes a run out of the queue. It returns false when the run does not wait.
func (c *config[T]) drop(r *Run[T]) bool {
	at := slices.Index(c.queue, r)
	if at < 0 {
		return false
	}
	c.queue = slices.Delete(c.queue, at, at+1)
	if len(c.queue) == 0 {
		c.queue = nil
		c.project.queued = slices.DeleteFunc(c.project.queued, func(other *config[T]) bool { return other == c })
	}
	c.gate.waiting--
	r.function.waiting--
	return true
}

// charge charges a run to its config and its project.
func (c *config[T]) charge(d time.Duration) {
	c.tally += tally(d)
	c.project.tally += tally(d)
}

package ticket

import (
	"sync"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// remembered is what this process remembers of projects. When that takes too much memory, it forgets other projects,
// which are read again when needed.
type remembered[V any] struct {
	limit int

	mu    sync.Mutex
	known map[string]V
	sizes map[string]int
	used  int
}

// newRemembered remembers about so many bytes at most, which an instrument of that name and unit, "By", shows.
func newRemembered[V any](limit int, m telemetry.Meter, name, unit, help string) *remembered[V] {
	r := &remembered[V]{limit: limit, known: map[string]V{}, sizes: map[string]int{}}
	m.ObservableGauge(name, unit, help, telemetry.Usage(func() (int, int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.used, limit
	}))
	return r
}

// of is what is remembered of a project, the zero value for nothing.
func (r *remembered[V]) of(project string) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[project]
}

// ensure is what is remembered of a project, from now on an initial value if there is nothing.
func (r *remembered[V]) ensure(project string, initial func() V, size int) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.known[project]; !known {
		r.put(project, initial(), size)
	}
	return r.known[project]
}

func (r *remembered[V]) keep(project string, value V, size int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(project, value, size)
}

func (r *remembered[V]) put(project string, value V, size int) {
	r.used += size - r.sizes[project]
	r.known[project], r.sizes[project] = value, size
	for other := range r.known {
		if r.used <= r.limit {
			return
		}
		if other != project {
			r.drop(other)
		}
	}
}

func (r *remembered[V]) forget(project string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(project)
}

func (r *remembered[V]) drop(project string) {
	r.used -= r.sizes[project]
	delete(r.known, project)
	delete(r.sizes, project)
}

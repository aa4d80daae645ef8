package ticket

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// settingsMemory is about how many bytes the remembered settings of all projects take at most.
const settingsMemory = 32 << 20

// attempts is how often a create is decided, while the settings of its project change.
const attempts = 8

// retryDelay is when a client may try again after that.
const retryDelay = time.Second

// settingsCache remembers the settings of projects. They may be old: the script that creates a ticket refuses one that
// was checked against other settings than the project has, and a refusal by old settings is decided again. So unchanged
// settings cost no round trip.
type settingsCache struct {
	read func(ctx context.Context, project string) (*pb.ProjectSettings, error)

	mu    sync.Mutex
	known map[string]*pb.ProjectSettings // of projects that have any
	size  int
	// reading are the reads that are under way.
	reading map[string]*reading
}

// reading is one read of a project's settings, for all requests from before it began.
type reading struct {
	done     chan struct{}
	settings *pb.ProjectSettings
	err      error
	// next is the read that begins when this one ends; nil without requests for it.
	next *reading
}

// refusal is an error that depends on the settings.
type refusal struct{ error }

func newSettingsCache(read func(ctx context.Context, project string) (*pb.ProjectSettings, error)) *settingsCache {
	return &settingsCache{read: read, known: map[string]*pb.ProjectSettings{}, reading: map[string]*reading{}}
}

// of is the settings as they were last seen, nil for none.
func (r *settingsCache) of(project string) *pb.ProjectSettings {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.known[project]
}

// fresh reads the settings that the project has now. Simultaneous calls share a read.
func (r *settingsCache) fresh(ctx context.Context, project string) (*pb.ProjectSettings, error) {
	r.mu.Lock()
	one := &reading{done: make(chan struct{})}
	switch now := r.reading[project]; {
	case now == nil:
		r.reading[project] = one
		go r.run(telemetry.Detach(ctx), project, one)
	case now.next == nil:
		now.next = one
	default:
		one = now.next
	}
	r.mu.Unlock()
	select {
	case <-one.done:
		return one.settings, one.err
	case <-ctx.Done():
		return nil, problem.Wrap(problem.Unavailable, context.Cause(ctx), "the project's settings were not read in time")
	}
}

// run reads a project's settings until no request waits for them.
func (r *settingsCache) run(ctx context.Context, project string, one *reading) {
	for one != nil {
		one.settings, one.err = r.read(ctx, project)
		r.mu.Lock()
		if one.err == nil {
			r.keep(project, one.settings)
		}
		next := one.next
		if r.reading[project] = next; next == nil {
			delete(r.reading, project)
		}
		r.mu.Unlock()
		close(one.done)
		one = next
	}
}

// keep remembers settings. When they take too much memory, it forgets the settings of other projects, which are read
// again when needed.
func (r *settingsCache) keep(project string, settings *pb.ProjectSettings) {
	r.forget(project)
	if settings.GetRevision() == 0 {
		return
	}
	r.known[project] = settings
	r.size += sizeOf(project, settings)
	for other := range r.known {
		if r.size <= settingsMemory {
			return
		}
		if other != project {
			r.forget(other)
		}
	}
}

func (r *settingsCache) forget(project string) {
	if old := r.known[project]; old != nil {
		delete(r.known, project)
		r.size -= sizeOf(project, old)
	}
}

// sizeOf is about how many bytes settings take: each element of a list has pointers and the header of a message.
func sizeOf(project string, settings *pb.ProjectSettings) int {
	return 256 + len(project) + proto.Size(settings) + 128*(len(settings.GetAttributes())+len(settings.GetProperties()))
}

// usage is how many projects' settings are remembered, and about how many bytes they take.
func (r *settingsCache) usage() (projects, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known), r.size
}

// decide does what depends on a project's settings, and again while they change meanwhile.
func (r *settingsCache) decide(ctx context.Context, project string, do func(*pb.ProjectSettings) error) error {
	settings, isFresh := r.of(project), false
	for range attempts {
		err := do(settings)
		refused, isRefusal := errors.AsType[refusal](err)
		if isRefusal && isFresh {
			return refused.error
		}
		if !isRefusal && !errors.Is(err, state.ErrOtherSettings) {
			return err
		}
		if settings, err = r.fresh(ctx, project); err != nil {
			return err
		}
		isFresh = true
	}
	return problem.New(problem.Unavailable, "the settings of this project change too fast, try again").After(retryDelay)
}

// observe makes the instrument of what is remembered.
func (r *settingsCache) observe(m telemetry.Meter) {
	m.ObservableGauge("matchmaker.settings.size", "By",
		"About how many bytes the projects' settings take that this process remembers, and the most.",
		func(_ context.Context, observe telemetry.Observe) {
			_, used := r.usage()
			observe(float64(used), attribute.String("kind", "used"))
			observe(settingsMemory, attribute.String("kind", "limit"))
		})
}

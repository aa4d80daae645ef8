package ticket

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/keylock"
	"matchmaker.dev/services/internal/state"
)

// settingsMemory is about how many bytes the remembered settings of all projects take at most.
const settingsMemory = 32 << 20

// attempts is how often a create is decided, while the settings of its project change.
const attempts = 8

// retryDelay is when a client may try again after that.
const retryDelay = time.Second

// settingsCache remembers the settings of projects that have any. They may be old: the script that creates a ticket
// refuses one that was checked against other settings than the project has, and a refusal by old settings is decided
// again. So unchanged settings cost no round trip.
type settingsCache struct {
	*remembered[*pb.ProjectSettings]

	read func(ctx context.Context, project string) (*pb.ProjectSettings, error)
	// reads are the reads that have not begun. By turns, the reads of a project begin one after the other.
	reads singleflight.Group
	turns keylock.Locks
}

// refusal is an error that depends on the settings.
type refusal struct{ error }

func newSettingsCache(read func(ctx context.Context, project string) (*pb.ProjectSettings, error),
	m telemetry.Meter) *settingsCache {
	return &settingsCache{read: read, remembered: newRemembered[*pb.ProjectSettings](
		settingsMemory, m, "matchmaker.settings.size", "By",
		"About how many bytes the projects' settings take that this process remembers, and the most.")}
}

// fresh reads the settings that the project has now. Simultaneous calls share a read that begins after them.
func (r *settingsCache) fresh(ctx context.Context, project string) (*pb.ProjectSettings, error) {
	done := r.reads.DoChan(project, func() (any, error) {
		ctx := telemetry.Detach(ctx)
		unlock, err := r.turns.Lock(ctx, project)
		if err != nil {
			return nil, err
		}
		defer unlock()
		r.reads.Forget(project) // later calls need another read
		settings, err := r.read(ctx, project)
		if settings.GetRevision() > 0 {
			r.keep(project, settings, sizeOf(project, settings))
		} else if err == nil {
			r.forget(project)
		}
		return settings, err
	})
	select {
	case read := <-done:
		settings, _ := read.Val.(*pb.ProjectSettings)
		return settings, read.Err
	case <-ctx.Done():
		return nil, problem.Wrap(problem.Unavailable, context.Cause(ctx), "the project's settings were not read in time")
	}
}

// sizeOf is about how many bytes settings take: each element of a list has pointers and the header of a message.
func sizeOf(project string, settings *pb.ProjectSettings) int {
	return 256 + len(project) + proto.Size(settings) + 128*(len(settings.GetAttributes())+len(settings.GetProperties()))
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

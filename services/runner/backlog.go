package runner

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/quota"
)

// Limits of the runs on a runner: waiting ones, and the few under way. A config has up to 256 segments, each of which
// is a run, so a project may have eight large configs or a thousand small ones. A director that paces its runs stays
// far below.
const (
	maxFunctionRuns = 1024
	maxProjectRuns  = 2048
	// maxProjectBytes bounds the requests of a project's runs, whose settings and pools may be large.
	maxProjectBytes = 32 << 20
	// maxBytes bounds the runs of all projects, of which each has its fair share.
	maxBytes = 128 << 20
	// runBytes is about what a run takes besides its request, as maxBytes counts it: a goroutine, contexts and timers.
	runBytes = 16 << 10
)

// backlog counts the runs of a runner, so that no project fills its memory.
type backlog struct {
	memory *quota.Shares[string] // bytes of all projects, with runBytes for each run

	mu sync.Mutex
	// loads are by function, and by project under the empty name of a function.
	loads map[functionKey]load
}

type load struct{ runs, bytes int }

func newBacklog() *backlog {
	return &backlog{memory: quota.NewShares[string](maxBytes), loads: map[functionKey]load{}}
}

// add adds a run, unless that is more than allowed. remove takes it out again.
func (b *backlog) add(f functionKey, r *pb.RunRequest) (remove func(), err error) {
	bytes, project := proto.Size(r), functionKey{project: f.project}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, limit := range []struct {
		n, most int
		what    string
	}{
		{b.loads[f].runs + 1, maxFunctionRuns, "runs of the function"},
		{b.loads[project].runs + 1, maxProjectRuns, "runs of the project"},
		{b.loads[project].bytes + bytes, maxProjectBytes, "bytes in runs of the project"},
	} {
		if limit.n > limit.most {
			return nil, fmt.Errorf("too much waits on this runner: %d %s would be more than the %d that are allowed",
				limit.n, limit.what, limit.most)
		}
	}
	if !b.memory.Take(f.project, int64(bytes+runBytes)) {
		return nil, fmt.Errorf("too much waits on this runner: %d bytes in runs of the project, beside others, would be "+
			"more than its share", b.memory.Of(f.project)+int64(bytes+runBytes))
	}
	b.change(f, 1, bytes)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.memory.Give(f.project, int64(bytes+runBytes))
		b.change(f, -1, -bytes)
	}, nil
}

func (b *backlog) change(f functionKey, runs, bytes int) {
	for _, key := range []functionKey{f, {project: f.project}} {
		l := b.loads[key]
		if l = (load{l.runs + runs, l.bytes + bytes}); l.runs == 0 {
			delete(b.loads, key)
		} else {
			b.loads[key] = l
		}
	}
}

// share is the backlog of a project, as a share of what is allowed.
func (b *backlog) share(project string) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.loads[functionKey{project: project}]
	return max(float64(l.runs)/maxProjectRuns, float64(l.bytes)/maxProjectBytes)
}

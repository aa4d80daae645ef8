package runner

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// What may be in hand on a runner at a time: runs that wait, and the few that are under way. A config has up to 256
// segments, each of which is a run, so a project may have eight large configs or a thousand small ones. A director that
// paces its runs stays far below.
const (
	maxFunctionRuns = 1024
	maxProjectRuns  = 2048
	// maxProjectBytes bounds the requests of a project's runs, whose settings and pools may be large.
	maxProjectBytes = 32 << 20
)

// backlog counts the runs that a runner has in hand, so that nobody's runs fill its memory. The zero backlog is empty.
type backlog struct {
	mu sync.Mutex
	// loads has those of functions, and of projects under the empty name of a function.
	loads map[functionKey]load
}

type load struct{ runs, bytes int }

// add adds a run, unless that is more than allowed. remove takes it out again.
func (b *backlog) add(f functionKey, r *pb.RunRequest) (remove func(), err error) {
	bytes := proto.Size(r)
	b.mu.Lock()
	defer b.mu.Unlock()
	project := functionKey{project: f.project}
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
	b.change(f, 1, bytes)
	b.change(project, 1, bytes)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.change(f, -1, -bytes)
		b.change(project, -1, -bytes)
	}, nil
}

func (b *backlog) change(key functionKey, runs, bytes int) {
	if b.loads == nil {
		b.loads = map[functionKey]load{}
	}
	l := b.loads[key]
	if l = (load{l.runs + runs, l.bytes + bytes}); l.runs == 0 {
		delete(b.loads, key)
	} else {
		b.loads[key] = l
	}
}

// share is the backlog of a project, as a share of what is allowed.
func (b *backlog) share(project string) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.loads[functionKey{project: project}]
	return max(float64(l.runs)/maxProjectRuns, float64(l.bytes)/maxProjectBytes)
}

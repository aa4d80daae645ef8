package director

import (
	"context"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"

	"matchmaker.dev/services/internal/platform/wait"
)

// The silence of runners is counted in intervals. After lostAfter of them a runner is lost with its runs, after
// forgetAfter it is forgotten.
const (
	lostAfter   = 4
	forgetAfter = 240
)

// runners are the runners that sent this replica a heartbeat. Silence counts only while this replica runs: when it
// stood still itself, no runner is lost for that.
type runners struct {
	mu sync.Mutex
	// silent is how many intervals each runner has been silent.
	silent map[string]int
}

func newRunners() *runners { return &runners{silent: map[string]int{}} }

// heartbeat notes a runner's heartbeat.
func (r *runners) heartbeat(s *pb.RunnerStatus) {
	if !s.GetLeaving() {
		r.alive(s.GetRunner())
		return
	}
	// It still ends the runs that it has taken.
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.silent, s.GetRunner())
}

// alive notes that a runner sent something.
func (r *runners) alive(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent[name] = 0
}

// watch counts silence until ctx ends.
func (r *runners) watch(ctx context.Context, interval time.Duration) {
	for n := range wait.Every(ctx, interval) {
		if n > 0 {
			r.count()
		}
	}
}

func (r *runners) count() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.silent {
		if r.silent[name]++; r.silent[name] > forgetAfter {
			delete(r.silent, name)
		}
	}
}

// isLost reports whether a runner has been silent for so long that its runs are lost.
func (r *runners) isLost(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.silent[name] >= lostAfter
}

package director

import (
	"context"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// How often the runners' silence is counted, how much of it means that a runner is lost with its runs, and
// after how much it is forgotten. Runners say that they live twice a second.
const (
	listening   = 500 * time.Millisecond
	lostAfter   = 4
	forgetAfter = 240
)

// runners are those that this replica has heard of. Silence is counted in moments in which this replica listened:
// when it stood still itself, nobody is lost for that.
type runners struct {
	mu sync.Mutex
	// silent is for how many moments each has said nothing.
	silent map[string]int
}

func newRunners() *runners { return &runners{silent: map[string]int{}} }

func (r *runners) hear(s *pb.RunnerStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.GetLeaving() { // it ends what it has taken
		delete(r.silent, s.GetRunner())
		return
	}
	r.silent[s.GetRunner()] = 0
}

// took notes that a runner has taken a run: it lives, also when its heartbeats have not been heard yet.
func (r *runners) took(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent[name] = 0
}

// listen counts silence until ctx ends.
func (r *runners) listen(ctx context.Context) {
	ticker := time.NewTicker(listening)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
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

// lost tells whether a runner is known and has been silent for so long that its runs are lost.
func (r *runners) lost(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.silent[name] >= lostAfter
}

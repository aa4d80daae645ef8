package runner

import (
	"context"
	"maps"
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/wait"
)

// The states of an instance, as the API names them.
const (
	stateRunning    = "Running"
	stateWaiting    = "Waiting"    // it starts, or waits for its next start
	stateTerminated = "Terminated" // it failed in a way that a new start does not mend
)

// minHeartbeatPause is the shortest time between two heartbeats: changes that come together, as when a runner starts,
// share one.
const minHeartbeatPause = 20 * time.Millisecond

// maxReason is how much of a failure's text a heartbeat carries, in bytes. The log has all of it.
const maxReason = 200

// sendHeartbeats sends the status at once when it changed, and every Settings.Heartbeat. When ctx ends it sends a last
// one, which says that this runner leaves.
func (r *Runner) sendHeartbeats(ctx context.Context) {
	for ctx.Err() == nil {
		r.sendHeartbeat(ctx, r.status())
		_ = wait.For(ctx, minHeartbeatPause)
		r.env.statusChanged.Await(ctx, r.env.Settings.Heartbeat-minHeartbeatPause, nil)
	}
	r.sendHeartbeat(context.WithoutCancel(ctx), &pb.RunnerStatus{Runner: r.env.Name, Leaving: true})
}

func (r *Runner) sendHeartbeat(ctx context.Context, s *pb.RunnerStatus) {
	if err := r.env.Bus.Heartbeat(ctx, s); err != nil {
		r.env.Log.WarnContext(ctx, "the heartbeat was not sent", "error", err)
	}
}

// status is the state of all instances, how the runs of uploads went, and how many hosts this runner wants for its
// projects.
func (r *Runner) status() *pb.RunnerStatus {
	r.mu.Lock()
	hosted := slices.Collect(maps.Values(r.hosted))
	s := &pb.RunnerStatus{Runner: r.env.Name, Hosts: maps.Clone(r.desiredHosts), Handing: r.peers.isLeaving()}
	r.mu.Unlock()
	for _, h := range hosted {
		for _, f := range h.sortedFunctions() {
			s.Instances = f.appendStatus(s.Instances)
			s.Uploads = f.appendUploads(s.Uploads)
		}
	}
	return s
}

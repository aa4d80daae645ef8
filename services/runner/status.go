package runner

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

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

// heartbeatRate is how many bytes a second of heartbeats a runner sends for changes: long ones come less often, but as
// often as Settings.Heartbeat says.
const heartbeatRate = 4 << 20

// maxReason is how much of a failure's text a heartbeat carries, in bytes. The log has all of it.
const maxReason = 200

// sendHeartbeats sends the status at once when it changed, and every Settings.Heartbeat. When ctx ends it sends a last
// one, which says that this runner leaves.
func (r *Runner) sendHeartbeats(ctx context.Context) {
	for ctx.Err() == nil {
		s := r.status()
		r.sendHeartbeat(ctx, s)
		pause := max(minHeartbeatPause, time.Duration(proto.Size(s))*time.Second/heartbeatRate)
		pause = min(pause, r.env.Settings.Heartbeat)
		_ = wait.For(ctx, pause)
		r.env.statusChanged.Await(ctx, r.env.Settings.Heartbeat-pause, nil)
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

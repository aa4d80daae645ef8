package runner

import (
	"context"
	"maps"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// The states of an instance, as the contract names them.
const (
	running    = "Running"
	waiting    = "Waiting"    // it starts, or waits to be started again
	terminated = "Terminated" // it failed in a way that trying again will not mend
)

// beatPause is the shortest time between two heartbeats: many changes at once, as
// when a runner starts, are told together.
const beatPause = 20 * time.Millisecond

// maxReason is how much of a failure's text travels with the heartbeat, in bytes; all of it is in the log.
const maxReason = 200

// beat says what this runner hosts, at once when it changes and in any case
// every Settings.Heartbeat. Its last word is that it leaves.
func (r *Runner) beat(ctx context.Context) {
	t := time.NewTicker(r.env.Settings.Heartbeat)
	defer t.Stop()
	for {
		r.say(ctx, r.status())
		select {
		case <-ctx.Done():
		case <-time.After(beatPause):
		}
		select {
		case <-ctx.Done():
			r.say(context.WithoutCancel(ctx), &pb.RunnerStatus{Runner: r.env.Name, Leaving: true})
			return
		case <-t.C:
		case <-r.heartbeat:
		}
	}
}

func (r *Runner) say(ctx context.Context, s *pb.RunnerStatus) {
	if err := r.env.Bus.Heartbeat(ctx, s); err != nil {
		r.env.Log.WarnContext(ctx, "the heartbeat was not sent", "error", err)
	}
}

// status describes every instance, and what this runner wants for its projects.
func (r *Runner) status() *pb.RunnerStatus {
	r.mu.Lock()
	hosts := make([]*host, 0, len(r.hosts))
	for _, h := range r.hosts {
		hosts = append(hosts, h)
	}
	s := &pb.RunnerStatus{Runner: r.env.Name, Hosts: maps.Clone(r.wanted)}
	r.mu.Unlock()
	for _, h := range hosts {
		for _, f := range h.list() {
			s.Instances = f.status(s.Instances)
		}
	}
	return s
}

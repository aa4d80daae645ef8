package allocator

import (
	"context"
	"fmt"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/state"
)

// newRefusals limits how often an allocator says of each target that it has no server. Matches that were refused ask
// again and again, each for itself.
func newRefusals() *ratelimit.Local {
	return ratelimit.NewLocal("refusals", state.Rate{PerSecond: 10, Burst: 1}, time.Now)
}

// refuse notes that hosting has no server for a match now: the director claims no more matches for its target.
func (s *service) refuse(ctx context.Context, project string, m *pb.Match, err error) {
	t := state.TargetOf(m)
	if s.refusals.Allow(project, fmt.Sprintf("%q", t)) != nil {
		return
	}
	f := failureOf(err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Settings.Call)
	defer cancel()
	noted, err := s.Store.RefuseServer(ctx, project, m, f.reason, f.detail)
	if err != nil {
		s.Log.WarnContext(ctx, "noting that there are no servers", "project", project, "match", m.GetId(), "error", err)
	} else if noted {
		s.Log.WarnContext(ctx, "hosting has no server: until it has one, tickets of matches for it wait",
			"project", project, "config", m.GetConfig(), "profile", t.Profile, "fleet", t.Fleet,
			"reason", f.reason, "detail", f.detail)
	}
}

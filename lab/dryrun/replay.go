package dryrun

import (
	"context"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/sandbox"
)

// Replay gives a function the request of a run that was captured, and returns its answer. It fails as Run does.
func Replay(
	ctx context.Context, box *sandbox.Supervisor, function []byte, c *pb.Capture, budget time.Duration,
	log func(line string),
) (answer []byte, stats sandbox.Stats, err error) {
	m, _, err := box.Load(ctx, "", function)
	if err != nil {
		return nil, stats, err
	}
	defer box.Release(m)
	if err := m.Manifest.Check(); err != nil {
		return nil, stats, problem.Wrap(problem.Invalid, err, "%s", err)
	}
	instance, err := box.Start(ctx, m, "trial", log)
	if err != nil {
		return nil, stats, err
	}
	defer instance.Close()
	return instance.Run(ctx, c.GetRequest(), budget)
}

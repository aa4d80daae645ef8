package ticket

import (
	"context"

	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// playersCreated counts the players of tickets.
type playersCreated struct {
	counter  metric.Int64Counter
	projects *telemetry.Labels
}

func newPlayersCreated(m telemetry.Meter) playersCreated {
	return playersCreated{
		counter: m.Counter("matchmaker.tickets.players", "{player}",
			"Players of the tickets that were created. A ticket that names none has one."),
		projects: m.Labels("project"),
	}
}

func (p playersCreated) count(ctx context.Context, project string, t *pb.Ticket) {
	p.counter.Add(ctx, int64(state.PlayerCount(t)), p.projects.Option(project))
}

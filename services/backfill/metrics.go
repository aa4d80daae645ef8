package backfill

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// metrics are what the service measures besides its requests.
type metrics struct {
	projects *telemetry.Labels

	approvals, joined, players, searches metric.Int64Counter
	cost                                 metric.Float64Counter
	assigned                             metric.Float64Histogram
}

func newMetrics(m telemetry.Meter) *metrics {
	return &metrics{
		projects: m.Labels("project"),
		approvals: m.Counter("matchmaker.backfill.approvals", "{approval}",
			"Approvals of game servers, by whether they assigned a ticket: filled, empty."),
		joined:  m.Counter("matchmaker.backfill.joined", "{ticket}", "Tickets that were assigned to running games."),
		players: m.Counter("matchmaker.backfill.players", "{player}", "Players who were assigned to running games."),
		searches: m.Counter("matchmaker.backfill.searches", "{run}",
			"Runs of functions for requests of the deprecated first generation, by outcome: ok, failed."),
		cost: m.Seconds("matchmaker.backfill.search.work",
			"Processor time that projects are charged for runs of the deprecated first generation (--backfill-cores)."),
		assigned: assignment.Waited(m),
	}
}

// recordApproval records an approval.
func (x *metrics) recordApproval(ctx context.Context, project string, a *state.Approval, now time.Time) {
	of := x.projects.Of(project)
	outcome := "empty"
	if len(a.Assigned) > 0 {
		outcome = "filled"
	}
	x.approvals.Add(ctx, 1, telemetry.WithLabels(of, attribute.String("outcome", outcome)))
	x.joined.Add(ctx, int64(len(a.Assigned)), telemetry.WithLabels(of))
	players := 0
	for _, t := range a.Assigned {
		players += state.PlayerCount(t.Body)
	}
	x.players.Add(ctx, int64(players), telemetry.WithLabels(of))
	// Which config proposed them is not known any more.
	labels := telemetry.WithLabels(of, attribute.String("config", ""), attribute.String("result", "connection"))
	for _, t := range a.Assigned {
		x.assigned.Record(ctx, max(0, now.Sub(time.UnixMilli(t.Body.GetCreated())).Seconds()), labels)
	}
}

// recordRun records a run of the first generation.
func (x *metrics) recordRun(ctx context.Context, project, failure string) {
	outcome := "ok"
	if failure != "" {
		outcome = "failed"
	}
	x.searches.Add(ctx, 1, telemetry.WithLabels(x.projects.Of(project), attribute.String("outcome", outcome)))
}

package allocator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/match/assignment"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// metrics are what an allocator measures.
type metrics struct {
	configs *telemetry.Labels

	took       metric.Float64Histogram
	errs       metric.Int64Counter
	running    metric.Int64UpDownCounter
	returned   metric.Int64Counter
	unreturned metric.Int64Counter
	assigned   metric.Float64Histogram
}

func newMetrics(m telemetry.Meter) *metrics {
	return &metrics{
		configs: m.Labels("project", "config"),
		took: m.WorkSeconds("matchmaker.allocation", "Time from asking a provider for a match's server until there was one, "+
			"or none for sure, by provider and outcome: ok, error."),
		errs: m.Counter("matchmaker.allocation.errors", "{error}", "Answers and failures of providers, "+
			"those that were asked again as well, by reason: contention, fleet-empty, maximum-zero, refused, timeout, unknown."),
		running: m.UpDownCounter("matchmaker.allocations.running", "{match}", "Matches that this allocator has in hand."),
		returned: m.Counter(
			"matchmaker.servers.returned", "{server}", "Servers that were given back because no ticket was left for them.",
		),
		unreturned: m.Counter(
			"matchmaker.servers.unreturned", "{server}", "Servers that could not be given back: the allocator gave up.",
		),
		assigned: assignment.Waited(m),
	}
}

// reasons are why there is no server.
var reasons = []string{
	string(provider.Contention), string(provider.FleetEmpty), string(provider.MaximumZero), string(provider.Refused),
	"timeout", "unknown",
}

// initMetrics sets the counters of each provider to zero.
func (s *service) initMetrics(ctx context.Context) {
	names := []string{s.Name}
	if c, ok := s.Provider.(*provider.Choice); ok {
		names = slices.Collect(maps.Keys(c.Providers))
	}
	for _, name := range names {
		of := attribute.String("provider", name)
		telemetry.StartAtZero(s.metrics.errs, telemetry.LabelsByValue([]attribute.KeyValue{of}, "reason", reasons...))
		s.metrics.returned.Add(ctx, 0, metric.WithAttributes(of))
		s.metrics.unreturned.Add(ctx, 0, metric.WithAttributes(of))
	}
}

// nameOf is the label of a match's provider in metrics.
func (s *service) nameOf(project string, h provider.Hosting) attribute.KeyValue {
	name := s.Name
	if c, ok := s.Provider.(*provider.Choice); ok {
		name = c.Of(project, h)
	}
	return attribute.String("provider", name)
}

// countError counts an answer of a provider that there is no server, or a call without an answer.
func (s *service) countError(ctx context.Context, r provider.Ref, err error) {
	of := metric.WithAttributes(s.nameOf(r.Project, r.Hosting), attribute.String("reason", reasonOf(err)))
	s.metrics.errs.Add(ctx, 1, of)
}

// reasonOf is one of reasons.
func reasonOf(err error) string {
	if reason := string(provider.ReasonOf(err)); reason != "" {
		return reason
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	return "unknown"
}

// recordAllocation records an allocation that ended here.
func (s *service) recordAllocation(ctx context.Context, r provider.Ref, began time.Time, o outcome) {
	result := "error"
	if o.connection != "" {
		result = "ok"
	}
	of := metric.WithAttributes(s.nameOf(r.Project, r.Hosting), attribute.String("outcome", result))
	s.metrics.took.Record(ctx, time.Since(began).Seconds(), of)
}

// recordAssigned records the time that tickets waited for their result.
func (s *service) recordAssigned(
	ctx context.Context, project string, m *pb.Match, tickets []string, now time.Time, failed bool,
) {
	result := "connection"
	if failed {
		result = "error"
	}
	labels := telemetry.WithLabels(s.metrics.configs.Of(project, m.GetConfig()), attribute.String("result", result))
	for _, id := range tickets {
		if created, known := state.CreationTime(id); known {
			s.metrics.assigned.Record(ctx, max(0, now.Sub(created).Seconds()), labels)
		}
	}
}

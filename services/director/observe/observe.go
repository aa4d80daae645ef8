// Package observe records what a director does: its metrics, its spans and the log lines about runs. Every span is
// opened and closed here.
//
//	observe.go   what a replica and a leader record
//	segment.go   the runs of one segment
//	cycle.go     the spans of one run and of what becomes of its proposals
//	claim.go     claims
//	metrics.go   counters and histograms
//	gauges.go    gauges of a project
//	errorlog.go  an error is logged once until it changes
package observe

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/schedule"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// Observer records what one replica does.
type Observer struct {
	metrics *metrics
	gauges  *gauges
	tracer  telemetry.Tracer
}

// New makes the replica's instruments.
func New(m telemetry.Meter, t telemetry.Tracer) *Observer {
	return &Observer{metrics: newMetrics(m), gauges: newGauges(m), tracer: t}
}

// Project records what the leader of one project does.
type Project struct {
	*ErrorLog
	*Observer
	name  string
	epoch uint64
	// work has the labels of the kinds of work, project only the project's label.
	work    telemetry.Values
	project metric.MeasurementOption
}

// Project begins the record of a leader. Close ends it.
func (o *Observer) Project(name string, epoch uint64, log *slog.Logger) *Project {
	work := telemetry.LabelsByValue(o.metrics.projects.Of(name), "kind", "function", "runner", "director", "bus")
	project := telemetry.WithLabels(o.metrics.projects.Of(name))
	telemetry.StartAtZero(o.metrics.removed, telemetry.Values{"project": project})
	telemetry.StartAtZero(o.metrics.reads, telemetry.Values{"project": project})
	return &Project{ErrorLog: NewErrorLog(log), Observer: o, name: name, epoch: epoch, work: work, project: project}
}

// RecordRemovedEvents records that the project lost its oldest events, since it has more than its share.
func (p *Project) RecordRemovedEvents(ctx context.Context, messages uint64) {
	p.metrics.removed.Add(ctx, int64(messages), p.project)
}

// CountRead counts a read of the project's configs.
func (p *Project) CountRead(ctx context.Context) { p.metrics.reads.Add(ctx, 1, p.project) }

// Segment begins the record of a segment. old is the record of a segment that it replaces, or nil.
func (p *Project) Segment(config *pb.Config, pools map[string]*pb.Pool, old *Segment) *Segment {
	s := &Segment{project: p, config: config, pools: pools, labels: p.metrics.labels(p.name, config.GetId())}
	if old != nil {
		s.failing = old.failing
	}
	return s
}

// RecordEvaluation records an evaluation that began at a moment and is over: the segments of the candidates and of the
// selected ones, one for each, and how long the first candidate had waited.
func (p *Project) RecordEvaluation(
	ctx context.Context, waited time.Duration, began time.Time, candidates, selected iter.Seq[*Segment],
) {
	ended := time.Now()
	p.metrics.recordPhase(ctx, "window", waited)
	p.metrics.recordPhase(ctx, "contest", ended.Sub(began))
	if !p.tracer.Enabled() {
		return
	}
	proposed, won, all := map[*cycle]int{}, map[*cycle]int{}, 0
	for s := range candidates {
		proposed[s.cycle]++
		all++
	}
	for s := range selected {
		won[s.cycle]++
	}
	for c, n := range proposed {
		if !c.recording() {
			continue
		}
		_, span := p.tracer.Start(c.ctx, "contest", trace.WithTimestamp(began))
		span.SetAttributes(
			attribute.Int("matchmaker.proposals", n), attribute.Int("matchmaker.won", won[c]),
			attribute.Int("matchmaker.proposals.all", all),
		)
		span.End(trace.WithTimestamp(ended))
	}
}

// TracePublish calls publish, which puts matches into the work queue and reports whether all are there. cause is the
// span of their claim, if that is traced.
func (p *Project) TracePublish(ctx context.Context, cause []byte, matches int, publish func(context.Context) bool) {
	if len(cause) == 0 {
		publish(ctx)
		return
	}
	ctx, span := p.tracer.StartChild(ctx, cause, "publish", trace.WithSpanKind(trace.SpanKindProducer))
	defer span.End()
	span.SetAttributes(attribute.String("matchmaker.project", p.name), attribute.Int("matchmaker.matches", matches))
	if !publish(ctx) {
		telemetry.Fail(span, "outbox", "not all matches reached the work queue: they are sent again from the outbox")
	}
}

// RecordPublish records how long it took to send matches.
func (p *Project) RecordPublish(ctx context.Context, d time.Duration) {
	p.metrics.recordPhase(ctx, "publish", d)
}

// RecordCost records work that the project is charged for.
func (p *Project) RecordCost(ctx context.Context, c schedule.Cost) {
	for _, part := range []struct {
		kind string
		time time.Duration
	}{{"function", c.Function}, {"runner", c.Runner}, {"director", c.Director}, {"bus", c.Bus}} {
		if part.time > 0 {
			p.metrics.work.Add(ctx, part.time.Seconds(), p.work.Of(part.kind))
		}
	}
}

// CountRepairs counts items that were repaired or expired.
func (p *Project) CountRepairs(ctx context.Context, what string, n int) {
	p.metrics.repaired.Add(ctx, int64(n), p.metrics.repairs.Of(what))
}

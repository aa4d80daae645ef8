package backfill

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/telemetry"
)

// traceAssigned links a request to the sampled tickets that it assigned, and records in their traces that they have a
// result.
func (s *service) traceAssigned(ctx context.Context, project string, tickets []*state.Ticket) {
	span, now := trace.SpanFromContext(ctx), time.Now()
	for _, t := range tickets {
		mark := t.Body.GetTrace()
		if len(mark) == 0 {
			continue
		}
		if span.IsRecording() {
			for _, link := range telemetry.Links(mark) {
				span.AddLink(link)
			}
		}
		s.Tracer.RecordStage(ctx, telemetry.Stage{
			Name: "ticket assigned", Project: project, Ticket: t.Body.GetId(), Span: mark, Cause: t.Assignment.GetTrace(),
			Ended: now,
		})
	}
}

// startRunSpan starts the span of a run for a request of the first version.
func (s *service) startRunSpan(ctx context.Context, r *pb.RunRequest) (context.Context, trace.Span) {
	ctx, span := s.Tracer.Start(ctx, "run", trace.WithSpanKind(trace.SpanKindProducer))
	if span.IsRecording() {
		span.SetAttributes(attribute.String("matchmaker.project", r.GetProject()),
			attribute.String("matchmaker.function", r.GetFunction()))
	}
	return ctx, span
}

// endRunSpan ends it. The text of a failure is only logged: it may be about tickets.
func endRunSpan(span trace.Span, a runResult) {
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.Int("matchmaker.proposals", len(a.proposals)))
	switch a.failure {
	case "":
	case bus.NoRunner:
		telemetry.Fail(span, "absent", bus.NoRunner)
	default:
		telemetry.Fail(span, "failed", "the run failed: the log says why")
	}
	span.End()
}

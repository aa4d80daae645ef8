package ticket

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// traceCreated stores a reference to the span of a ticket's creation with the ticket, if it is sampled: 24 bytes by
// which all later work on the ticket continues its trace.
func (s *service) traceCreated(ctx context.Context, project string, body *pb.Ticket) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("matchmaker.project", project),
		attribute.String("matchmaker.ticket", body.GetId()))
	body.Trace = telemetry.SpanRef(ctx)
}

// traceRead links the request that reads a ticket's result to the span that made the result, and records in the
// ticket's trace that the result was seen.
func (s *service) traceRead(ctx context.Context, project string, t *state.Ticket) {
	if t.Assignment == nil || len(t.Body.GetTrace()) == 0 && len(t.Assignment.GetTrace()) == 0 {
		return
	}
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("matchmaker.project", project),
			attribute.String("matchmaker.ticket", t.Body.GetId()))
		for _, link := range telemetry.Links(t.Assignment.GetTrace(), t.Body.GetTrace()) {
			span.AddLink(link)
		}
	}
	s.Tracer.RecordStage(ctx, telemetry.Stage{
		Name: "ticket seen", Project: project, Ticket: t.Body.GetId(), Span: t.Body.GetTrace(),
		Cause: t.Assignment.GetTrace(), Ended: time.Now(),
	})
}

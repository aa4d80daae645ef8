package backfill

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
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

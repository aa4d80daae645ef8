package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Stage is a stage of a sampled ticket's life: a span in the trace of its creation, so that one trace shows all of it,
// which links to what brought it about, where the ticket was one of many.
type Stage struct {
	// Name is "ticket matched", "ticket assigned", "ticket released" or "ticket seen".
	Name                           string
	Project, Config, Match, Ticket string
	// Span is the ticket's, By that of the span that did it.
	Span, Cause []byte
	// Began is when the stage began, Ended when it was over.
	Began, Ended time.Time
	// Reason is the word for what went wrong, if something did.
	Reason string
}

// RecordStage records a stage; nothing when the ticket is not sampled.
func (t Tracer) RecordStage(ctx context.Context, s Stage) {
	if t.tracer == nil || len(s.Span) == 0 {
		return
	}
	if s.Began.IsZero() || s.Began.After(s.Ended) {
		s.Began = s.Ended
	}
	_, span := t.StartChild(ctx, s.Span, s.Name, trace.WithTimestamp(s.Began), trace.WithLinks(Links(s.Cause)...))
	if !span.IsRecording() {
		return
	}
	for _, a := range []struct{ key, value string }{
		{"project", s.Project}, {"config", s.Config}, {"match", s.Match}, {"ticket", s.Ticket},
	} {
		if a.value != "" {
			span.SetAttributes(attribute.String("matchmaker."+a.key, a.value))
		}
	}
	if s.Reason != "" {
		Fail(span, s.Reason, "")
	}
	span.End(trace.WithTimestamp(s.Ended))
}

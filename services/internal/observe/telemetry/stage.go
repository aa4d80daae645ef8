package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Stage is a stage in the life of a sampled ticket: a span in the trace of the ticket's creation, so that one trace
// shows its whole life. It links to its cause if the ticket was one of many.
type Stage struct {
	// Name is "ticket matched", "ticket assigned", "ticket released" or "ticket seen".
	Name                           string
	Project, Config, Match, Ticket string
	// Span refers to the span of the ticket's creation, Cause to the one that did the work.
	Span, Cause []byte
	// Began and Ended are when the stage began and ended.
	Began, Ended time.Time
	// Reason says in a word what went wrong, "" if nothing did.
	Reason string
}

// RecordStage records a stage if the ticket is sampled.
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

package registry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// traceStep runs work that may take seconds in a span of its own.
func (r *registry) traceStep(ctx context.Context, name string, work func(context.Context) error,
	about ...attribute.KeyValue) error {
	ctx, span := r.Tracer.Start(ctx, name)
	defer span.End()
	span.SetAttributes(about...)
	err := work(ctx)
	if err != nil {
		telemetry.Fail(span, reasonOf(err), err.Error())
	}
	return err
}

// reasonOf returns one word for why a step failed.
func reasonOf(err error) string {
	switch problem.KindOf(err) {
	case problem.Invalid:
		return "invalid"
	case problem.Unavailable:
		return "unavailable"
	}
	return "other"
}

// annotateSpan records on the span of a request which function it changed.
func annotateSpan(ctx context.Context, project, function string) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("matchmaker.project", project), attribute.String("matchmaker.function", function))
	}
}

package runner

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/sandbox"
)

// maxLinks is how many tickets a run's span links to.
const maxLinks = 128

// trace makes the spans of a run that was answered. They are made at the end of the run, because only then it is known
// whether the run served a sampled ticket. Most runs did not, and cost nothing here.
func (f *function) trace(r *run, outcome string, last *pb.RunPart, err error) {
	parent := trace.SpanContextFromContext(r.ctx)
	stats := last.GetStats()
	if !f.env.Tracer.Enabled() || parent.IsValid() && !parent.IsSampled() && !r.Traced {
		return
	}
	ctx := r.ctx
	if parent.IsValid() && r.Traced {
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent.WithTraceFlags(parent.TraceFlags().WithSampled(true)))
	}
	marks := make([][]byte, 0, min(len(last.GetTraced()), maxLinks))
	for _, t := range last.GetTraced()[:cap(marks)] {
		marks = append(marks, t.GetTrace())
	}
	ctx, span := f.env.Tracer.Start(ctx, "execute", trace.WithTimestamp(r.Began),
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(telemetry.Links(marks...)...))
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("matchmaker.project", f.project), attribute.String("matchmaker.function", f.function),
		attribute.String("matchmaker.outcome", outcome), attribute.String("matchmaker.instance", stats.GetInstance()),
		attribute.Int64("matchmaker.tickets", stats.GetTickets()),
		attribute.Int64("matchmaker.proposals", stats.GetProposals()),
		attribute.Int64("matchmaker.memory", stats.GetMemory()),
	)
	f.traceStages(ctx, r, stats)
	if err != nil {
		telemetry.Fail(span, errorType(outcome, err), failureTexts[outcome])
	}
	span.End()
}

// traceStages makes the spans of a run's stages, one after the other.
func (f *function) traceStages(ctx context.Context, r *run, stats *pb.RunStats) {
	at := r.Began
	step := func(name string, took time.Duration) {
		if took <= 0 {
			return
		}
		_, span := f.env.Tracer.Start(ctx, name, trace.WithTimestamp(at))
		at = at.Add(took)
		span.End(trace.WithTimestamp(at))
	}
	micros := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	var indexed time.Duration
	if !r.indexed.IsZero() {
		indexed = r.indexed.Sub(r.Began)
	}
	step("await index", indexed)
	step("await instance", micros(stats.GetWaiting())-indexed)
	step("select", micros(stats.GetQuery()))
	step("encode", micros(stats.GetEncode()))
	step("function", micros(stats.GetRun()))
	step("decode", micros(stats.GetDecode()))
}

// failureTexts describe failures. The function's own error is in its log only, since it may name tickets.
var failureTexts = map[string]string{
	outcomeFunctionError: "the function returned an error or an invalid answer: its log says which",
	outcomeKilled:        "the instance ended: the function's log says why",
	outcomeUnserved:      "the index was behind, or no instance was free, for half of the run's time",
}

// errorType is one word for why a run failed.
func errorType(outcome string, err error) string {
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		return string(e.Cause)
	}
	return outcome
}

// traceStart starts the span of an instance's start, including the compilation of its module where that is needed.
func (f *function) traceStart(ctx context.Context, instance string) (context.Context, trace.Span) {
	ctx, span := f.env.Tracer.Start(ctx, "start instance", trace.WithNewRoot())
	if span.IsRecording() {
		span.SetAttributes(
			attribute.String("matchmaker.project", f.project), attribute.String("matchmaker.function", f.function),
			attribute.String("matchmaker.instance", instance),
		)
	}
	return ctx, span
}

func traceStarted(span trace.Span, err error) {
	if err != nil {
		telemetry.Fail(span, errorType("unavailable", err), "the instance did not start: the function's log says why")
	}
	span.End()
}

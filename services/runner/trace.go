package runner

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/telemetry"
)

// mostLinks is how many tickets a run's span links to.
const mostLinks = 128

// trace tells where the time of a run went that was answered. A run's span is made when the run is over: only then is
// known whether it is about a sampled ticket. Most runs are not, and cost nothing here.
func (f *function) trace(r *run, outcome string, last *pb.RunPart, err error) {
	asked := trace.SpanContextFromContext(r.ctx)
	stats := last.GetStats()
	if !f.env.Tracer.Enabled() || asked.IsValid() && !asked.IsSampled() && !r.Traced {
		return
	}
	ctx := r.ctx
	if asked.IsValid() && r.Traced {
		ctx = trace.ContextWithRemoteSpanContext(ctx, asked.WithTraceFlags(asked.TraceFlags().WithSampled(true)))
	}
	marks := make([][]byte, 0, min(len(last.GetTraced()), mostLinks))
	for _, t := range last.GetTraced()[:cap(marks)] {
		marks = append(marks, t.GetTrace())
	}
	ctx, span := f.env.Tracer.Start(ctx, "execute", trace.WithTimestamp(r.Began), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(telemetry.Links(marks...)...))
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(
		attribute.String("matchmaker.project", f.project), attribute.String("matchmaker.function", f.function),
		attribute.String("matchmaker.outcome", outcome), attribute.String("matchmaker.instance", stats.GetInstance()),
		attribute.Int64("matchmaker.tickets", stats.GetTickets()), attribute.Int64("matchmaker.proposals", stats.GetProposals()),
		attribute.Int64("matchmaker.memory", stats.GetMemory()),
	)
	f.stages(ctx, r, stats)
	if err != nil {
		telemetry.Fail(span, reasonOf(outcome, err), outcomes[outcome])
	}
	span.End()
}

// stages are the spans of a run's parts, one after the other.
func (f *function) stages(ctx context.Context, r *run, stats *pb.RunStats) {
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

// outcomes say what went wrong. What a function says of it is in its log: it may be about tickets.
var outcomes = map[string]string{
	complaint: "the function, or its answer, says that it cannot: its log says why",
	killed:    "the instance is no more: the function's log says why",
	unserved:  "the index was behind, or no instance was free, for half of the run's time",
}

// reasonOf is the word for why a run failed.
func reasonOf(outcome string, err error) string {
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		return string(e.Cause)
	}
	return outcome
}

// traceStart begins the span of an instance's start, its module's compilation included where that is needed.
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
		telemetry.Fail(span, reasonOf("unavailable", err), "the instance did not start: the function's log says why")
	}
	span.End()
}

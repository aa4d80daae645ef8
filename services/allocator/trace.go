package allocator

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/telemetry"
)

// traced begins the span of a match's way through this allocator. It goes on where the work queue's message comes from, or, where that
// was sent again out of the outbox, where the match was claimed.
func (s *service) traced(ctx context.Context, project string, m *pb.Match, attempt int) (context.Context, trace.Span) {
	if !s.Tracer.On() {
		return ctx, trace.SpanFromContext(ctx)
	}
	if claimed := telemetry.Marked(m.GetTrace()); claimed.IsValid() && !trace.SpanContextFromContext(ctx).IsSampled() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, claimed)
	}
	marks := make([][]byte, 0, len(m.GetTraced()))
	for _, t := range m.GetTraced() {
		marks = append(marks, t.GetTrace())
	}
	ctx, span := s.Tracer.Start(ctx, "allocate", trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(telemetry.Links(marks...)...))
	if span.IsRecording() {
		h := hostingOf(m)
		span.SetAttributes(
			attribute.String("matchmaker.project", project), attribute.String("matchmaker.config", m.GetConfig()),
			attribute.String("matchmaker.match", m.GetId()), attribute.Int("matchmaker.attempt", attempt),
			attribute.String("matchmaker.fleet", h.Fleet), attribute.String("matchmaker.region", h.Region), s.providerOf(h),
		)
	}
	return ctx, span
}

// matched ends the span of a match's way through this allocator. A match that comes again later is no failure.
func (s *service) matched(span trace.Span, err error) {
	if !s.Tracer.On() {
		return
	}
	if err != nil {
		span.SetAttributes(attribute.Bool("matchmaker.again", true))
		span.AddEvent(err.Error())
	}
	span.End()
}

func (s *service) providerOf(h provider.Hosting) attribute.KeyValue {
	return attribute.String("matchmaker.provider", s.nameOf(h).Value.AsString())
}

// called begins the span of one call of a hosting system.
func (s *service) called(ctx context.Context, call string, h provider.Hosting, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if !s.Tracer.On() {
		return ctx, trace.SpanFromContext(ctx)
	}
	ctx, span := s.Tracer.Start(ctx, call, append(o, trace.WithSpanKind(trace.SpanKindClient))...)
	if span.IsRecording() {
		span.SetAttributes(s.providerOf(h))
	}
	return ctx, span
}

// answered ends the span of a call. err is why there is no server, or not yet.
func (s *service) answered(span trace.Span, err error) {
	if !s.Tracer.On() {
		return
	}
	if err != nil {
		telemetry.Fail(span, reasonOf(err), err.Error())
	}
	span.End()
}

// staged writes into the traces of a match's sampled tickets what became of them; of are the ones that it is about, nil for all.
func (s *service) staged(ctx context.Context, name, project string, m *pb.Match, of []string, reason string) {
	if len(m.GetTraced()) == 0 {
		return
	}
	about := make(map[string]bool, len(of))
	for _, id := range of {
		about[id] = true
	}
	for _, t := range m.GetTraced() {
		if of != nil && !about[t.GetTicket()] {
			continue
		}
		s.Tracer.Stage(ctx, telemetry.Stage{
			Name: name, Project: project, Config: m.GetConfig(), Match: m.GetId(), Ticket: t.GetTicket(), Reason: reason,
			Mark: t.GetTrace(), By: telemetry.Mark(ctx), Began: time.UnixMilli(m.GetCreated()), Ended: time.Now(),
		})
	}
}

package allocator

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/internal/observe/telemetry"
)

// traceMatch calls do in a span of this allocator's work on a match. The span's parent comes with the work queue's
// message. A message that was sent again from the outbox has none: then the parent is the span of the claim.
func (s *service) traceMatch(
	ctx context.Context, project string, m *pb.Match, attempt int, do func(context.Context) error,
) error {
	if !s.Tracer.Enabled() {
		return do(ctx)
	}
	if claim := telemetry.DecodeSpanRef(m.GetTrace()); claim.IsValid() && !trace.SpanContextFromContext(ctx).IsSampled() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, claim)
	}
	marks := make([][]byte, 0, len(m.GetTraced()))
	for _, t := range m.GetTraced() {
		marks = append(marks, t.GetTrace())
	}
	links := trace.WithLinks(telemetry.Links(marks...)...)
	ctx, span := s.Tracer.Start(ctx, "allocate", trace.WithSpanKind(trace.SpanKindConsumer), links)
	defer span.End()
	if span.IsRecording() {
		h := hostingOf(m)
		span.SetAttributes(
			attribute.String("matchmaker.project", project), attribute.String("matchmaker.config", m.GetConfig()),
			attribute.String("matchmaker.match", m.GetId()), attribute.Int("matchmaker.attempt", attempt),
			attribute.String("matchmaker.fleet", h.Fleet), // the region may be a text of clients
			s.providerOf(project, h),
		)
	}
	err := do(ctx)
	if err != nil { // a match that is delivered again is no failure
		span.SetAttributes(attribute.Bool("matchmaker.again", true))
		span.AddEvent(err.Error())
	}
	return err
}

func (s *service) providerOf(project string, h provider.Hosting) attribute.KeyValue {
	return attribute.String("matchmaker.provider", s.nameOf(project, h).Value.AsString())
}

// call calls a hosting system in a span of its own, and ends the call after Settings.Call. The error of do is why there
// is no server, or not yet.
func (s *service) call(
	ctx context.Context, name string, r provider.Ref, do func(context.Context) error, options ...trace.SpanStartOption,
) error {
	ctx, cancel := context.WithTimeout(ctx, s.Settings.Call)
	defer cancel()
	ctx, span := s.Tracer.Start(ctx, name, append(options, trace.WithSpanKind(trace.SpanKindClient))...)
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(s.providerOf(r.Project, r.Hosting))
	}
	err := do(ctx)
	if err != nil {
		telemetry.Fail(span, reasonOf(err), err.Error())
	}
	return err
}

// traceTickets writes into the traces of a match's sampled tickets what became of them. Nil tickets are all of them.
func (s *service) traceTickets(
	ctx context.Context, name, project string, m *pb.Match, tickets []string, reason string,
) {
	if len(m.GetTraced()) == 0 {
		return
	}
	about := make(map[string]bool, len(tickets))
	for _, id := range tickets {
		about[id] = true
	}
	for _, t := range m.GetTraced() {
		if tickets != nil && !about[t.GetTicket()] {
			continue
		}
		s.Tracer.RecordStage(ctx, telemetry.Stage{
			Name: name, Project: project, Config: m.GetConfig(), Match: m.GetId(), Ticket: t.GetTicket(), Reason: reason,
			Span: t.GetTrace(), Cause: telemetry.SpanRef(ctx), Began: time.UnixMilli(m.GetCreated()), Ended: time.Now(),
		})
	}
}

package otlp

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
)

type spanExporter struct{ *client }

// NewSpanExporter makes an exporter of the spans of one provider.
func NewSpanExporter(version string) (sdktrace.SpanExporter, error) {
	c, err := newClient(traces, version)
	if err != nil {
		return nil, err
	}
	return spanExporter{c}, nil
}

// ExportSpans sends spans.
func (e spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	// A provider has one resource.
	all := &tracepb.ResourceSpans{
		Resource: resourceOf(spans[0].Resource()), SchemaUrl: spans[0].Resource().SchemaURL(),
	}
	scopes := map[instrumentation.Scope]*tracepb.ScopeSpans{}
	for _, s := range spans {
		scope := s.InstrumentationScope()
		to := scopes[scope]
		if to == nil {
			to = &tracepb.ScopeSpans{Scope: scopeOf(scope), SchemaUrl: scope.SchemaURL}
			scopes[scope] = to
			all.ScopeSpans = append(all.ScopeSpans, to)
		}
		to.Spans = append(to.Spans, spanOf(s))
	}
	return e.send(ctx, &collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{all}})
}

func spanOf(s sdktrace.ReadOnlySpan) *tracepb.Span {
	traceID, spanID, parentID := s.SpanContext().TraceID(), s.SpanContext().SpanID(), s.Parent().SpanID()
	out := &tracepb.Span{
		TraceId: traceID[:], SpanId: spanID[:], TraceState: s.SpanContext().TraceState().String(),
		Flags: flags(s.SpanContext(), s.Parent()), Name: valid(s.Name()),
		Kind:              tracepb.Span_SpanKind(s.SpanKind()), // has the same numbers
		StartTimeUnixNano: nanoseconds(s.StartTime()), EndTimeUnixNano: nanoseconds(s.EndTime()),
		Attributes: each(s.Attributes(), keyValue), DroppedAttributesCount: uint32(s.DroppedAttributes()),
		Events: each(s.Events(), eventOf), DroppedEventsCount: uint32(s.DroppedEvents()),
		Links: each(s.Links(), linkOf), DroppedLinksCount: uint32(s.DroppedLinks()),
		Status: &tracepb.Status{Message: valid(s.Status().Description)},
	}
	if parentID.IsValid() {
		out.ParentSpanId = parentID[:]
	}
	switch s.Status().Code {
	case codes.Ok:
		out.Status.Code = tracepb.Status_STATUS_CODE_OK
	case codes.Error:
		out.Status.Code = tracepb.Status_STATUS_CODE_ERROR
	}
	return out
}

func eventOf(e sdktrace.Event) *tracepb.Span_Event {
	return &tracepb.Span_Event{
		Name: valid(e.Name), TimeUnixNano: nanoseconds(e.Time),
		Attributes: each(e.Attributes, keyValue), DroppedAttributesCount: uint32(e.DroppedAttributeCount),
	}
}

func linkOf(l sdktrace.Link) *tracepb.Span_Link {
	traceID, spanID := l.SpanContext.TraceID(), l.SpanContext.SpanID()
	return &tracepb.Span_Link{
		TraceId: traceID[:], SpanId: spanID[:], TraceState: l.SpanContext.TraceState().String(),
		Flags:      flags(l.SpanContext, l.SpanContext),
		Attributes: each(l.Attributes, keyValue), DroppedAttributesCount: uint32(l.DroppedAttributeCount),
	}
}

// flags returns the W3C flags of a span, and whether another span, its parent, belongs to another process.
func flags(span, parent trace.SpanContext) uint32 {
	all := uint32(span.TraceFlags()) | uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK)
	if parent.IsRemote() {
		all |= uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
	}
	return all
}

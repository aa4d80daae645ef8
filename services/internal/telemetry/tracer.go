package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Tracer makes the spans of a service. The zero Tracer makes none and costs nothing.
//
// What is written on spans is names, numbers and reasons: never tokens, properties of tickets or keys of hosting
// systems.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns the tracer of one service, the zero one where the provider records nothing.
func NewTracer(p trace.TracerProvider, service string) Tracer {
	if _, off := p.(noop.TracerProvider); p == nil || off {
		return Tracer{}
	}
	return Tracer{p.Tracer("matchmaker.dev/services/" + service)}
}

// Enabled tells whether spans may be recorded.
func (t Tracer) Enabled() bool { return t.tracer != nil }

// Start starts a span below that of ctx.
func (t Tracer) Start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if t.tracer == nil {
		return ctx, noop.Span{}
	}
	return t.tracer.Start(ctx, name, o...)
}

// Restart starts the span of ctx, which Start made and left out, once more, because it turned out whom it is about:
// with the same ids, so that what was told of it while it ran holds. parent is the context that Start was given.
func (t Tracer) Restart(parent, ctx context.Context, name string, began time.Time, about []byte,
	o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if t.tracer == nil {
		return ctx, noop.Span{}
	}
	of := trace.SpanContextFromContext(ctx)
	o = append(o, trace.WithTimestamp(began), trace.WithLinks(Links(about)...))
	_, span := t.tracer.Start(context.WithValue(parent, reservedKey{}, of), name, o...)
	return trace.ContextWithSpan(parent, span), span // the ids are for this one alone
}

// StartChild starts a span below one that was marked.
func (t Tracer) StartChild(ctx context.Context, mark []byte, name string,
	o ...trace.SpanStartOption) (context.Context, trace.Span) {
	return t.Start(trace.ContextWithRemoteSpanContext(ctx, DecodeSpanRef(mark)), name, o...)
}

// Fail notes on a span why its work failed. The reason is a word that can be counted, the text is for people.
func Fail(s trace.Span, reason, text string) {
	if !s.IsRecording() {
		return
	}
	s.SetStatus(codes.Error, text)
	s.SetAttributes(attribute.String("error.type", reason))
}

// Detach is ctx for work that one request begins and that is done for others too: it does not end with the request, and
// what it says is not about it.
func Detach(ctx context.Context) context.Context {
	apart := context.WithoutCancel(ctx)
	if trace.SpanContextFromContext(ctx).IsValid() {
		apart = trace.ContextWithSpanContext(apart, trace.SpanContext{})
	}
	if CorrelationID(ctx) != "" {
		apart = WithCorrelationID(apart, "")
	}
	return apart
}

// spanRefSize is the bytes of a mark: the ids of a trace and of a span.
const spanRefSize = 16 + 8

// SpanRef is the span of ctx in a few bytes, to be kept with what it was about until somebody goes on with that. It is
// nil where the span is not sampled: what is not traced takes no room.
func SpanRef(ctx context.Context) []byte { return EncodeSpanRef(trace.SpanContextFromContext(ctx)) }

// EncodeSpanRef is the mark of a span.
func EncodeSpanRef(s trace.SpanContext) []byte {
	if !s.IsSampled() || !s.IsValid() {
		return nil
	}
	mark := make([]byte, 0, spanRefSize)
	t, id := s.TraceID(), s.SpanID()
	return append(append(mark, t[:]...), id[:]...)
}

// DecodeSpanRef is the span that a mark is of; one that is not valid where it is no mark.
func DecodeSpanRef(mark []byte) trace.SpanContext {
	if len(mark) != spanRefSize {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(mark[:16]), SpanID: trace.SpanID(mark[16:]), TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

// Links are links to what marks are of.
func Links(marks ...[]byte) []trace.Link {
	links := make([]trace.Link, 0, len(marks))
	for _, m := range marks {
		if s := DecodeSpanRef(m); s.IsValid() {
			links = append(links, trace.Link{SpanContext: s})
		}
	}
	return links
}

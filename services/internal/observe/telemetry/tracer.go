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
// Spans have names, numbers and reasons: never tokens, properties of tickets or keys of hosting systems.
type Tracer struct{ tracer trace.Tracer }

// NewTracer returns the tracer of a service, the zero Tracer if the provider records nothing.
func NewTracer(p trace.TracerProvider, service string) Tracer {
	if _, off := p.(noop.TracerProvider); p == nil || off {
		return Tracer{}
	}
	return Tracer{p.Tracer("matchmaker.dev/services/" + service)}
}

// Enabled reports whether spans may be recorded.
func (t Tracer) Enabled() bool { return t.tracer != nil }

// Start starts a span as a child of ctx's.
func (t Tracer) Start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	if t.tracer == nil {
		return ctx, noop.Span{}
	}
	return t.tracer.Start(ctx, name, o...)
}

// Restart starts the span of ctx again, with the same ids, once it is known which sampled tickets it is about. Start
// made that span without sampling it; what others recorded about its ids stays true. parent is the context that Start
// was given.
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

// StartChild starts a span as a child of the one that ref refers to.
func (t Tracer) StartChild(ctx context.Context, mark []byte, name string,
	o ...trace.SpanStartOption) (context.Context, trace.Span) {
	return t.Start(trace.ContextWithRemoteSpanContext(ctx, DecodeSpanRef(mark)), name, o...)
}

// Fail records on a span why its work failed. reason is a word that can be counted, text is for people.
func Fail(s trace.Span, reason, text string) {
	if !s.IsRecording() {
		return
	}
	s.SetStatus(codes.Error, text)
	s.SetAttributes(attribute.String("error.type", reason))
}

// Detach returns ctx for work that one request begins but that is done for others too: it does not end with the
// request, and its spans and log lines are not the request's.
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

// spanRefSize is the bytes of a span reference: the ids of a trace and of a span.
const spanRefSize = 16 + 8

// SpanRef is a reference to the span of ctx in 24 bytes, to be stored with what the span is about. It is nil if the
// span is not sampled.
func SpanRef(ctx context.Context) []byte { return EncodeSpanRef(trace.SpanContextFromContext(ctx)) }

// EncodeSpanRef is the reference to a span, nil if it is not sampled.
func EncodeSpanRef(s trace.SpanContext) []byte {
	if !s.IsSampled() || !s.IsValid() {
		return nil
	}
	mark := make([]byte, 0, spanRefSize)
	t, id := s.TraceID(), s.SpanID()
	return append(append(mark, t[:]...), id[:]...)
}

// DecodeSpanRef is the span that a reference refers to. It is not valid if ref is none.
func DecodeSpanRef(mark []byte) trace.SpanContext {
	if len(mark) != spanRefSize {
		return trace.SpanContext{}
	}
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(mark[:16]), SpanID: trace.SpanID(mark[16:]), TraceFlags: trace.FlagsSampled, Remote: true,
	})
}

// Links are links to the spans of references.
func Links(marks ...[]byte) []trace.Link {
	links := make([]trace.Link, 0, len(marks))
	for _, m := range marks {
		if s := DecodeSpanRef(m); s.IsValid() {
			links = append(links, trace.Link{SpanContext: s})
		}
	}
	return links
}

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

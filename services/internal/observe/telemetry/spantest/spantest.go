// Package spantest lets tests look at the spans that services make.
package spantest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// Spans are those that have ended.
type Spans struct {
	// Provider makes them.
	Provider *sdktrace.TracerProvider

	t        testing.TB
	recorder *tracetest.SpanRecorder
}

// New makes a provider that samples roots as root says.
func New(t testing.TB, root sdktrace.Sampler) *Spans {
	t.Helper()
	s := &Spans{t: t, recorder: tracetest.NewSpanRecorder()}
	s.Provider = telemetry.NewProvider(root, sdktrace.WithSpanProcessor(s.recorder))
	return s
}

// Tracer is a service's tracer.
func (s *Spans) Tracer(service string) telemetry.Tracer {
	return telemetry.NewTracer(s.Provider, service)
}

// Request is a context in a span that is sampled, as one of a request is, and its mark.
func (s *Spans) Request(ctx context.Context) (in context.Context, mark []byte) {
	in, span := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample())).Tracer("").Start(ctx, "request")
	s.t.Cleanup(func() { span.End() })
	return in, telemetry.SpanRef(in)
}

// Named returns the spans of a name.
func (s *Spans) Named(name string) []sdktrace.ReadOnlySpan {
	return slices.DeleteFunc(s.recorder.Ended(), func(span sdktrace.ReadOnlySpan) bool { return span.Name() != name })
}

// Wait waits for the only span of a name.
func (s *Spans) Wait(name string) sdktrace.ReadOnlySpan {
	s.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		if got := s.Named(name); len(got) == 1 {
			return got[0]
		} else if len(got) > 1 || time.Now().After(deadline) {
			s.t.Fatalf("there are %d spans %q, want one, of\n%s", len(got), name, s)
		}
		select {
		case <-s.t.Context().Done():
			s.t.Fatal("the test is over")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Attribute is an attribute of a span as text.
func Attribute(s sdktrace.ReadOnlySpan, key string) string {
	for _, a := range s.Attributes() {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// LinksTo reports whether a span has a link to one that is marked.
func LinksTo(s sdktrace.ReadOnlySpan, mark []byte) bool {
	to := telemetry.DecodeSpanRef(mark)
	return slices.ContainsFunc(s.Links(), func(l sdktrace.Link) bool {
		return l.SpanContext.TraceID() == to.TraceID() && l.SpanContext.SpanID() == to.SpanID()
	})
}

// IsChildOf reports whether a span is a child of one that is marked.
func IsChildOf(s sdktrace.ReadOnlySpan, mark []byte) bool {
	above := telemetry.DecodeSpanRef(mark)
	return s.Parent().TraceID() == above.TraceID() && s.Parent().SpanID() == above.SpanID()
}

// SpanRef is the mark of a span.
func SpanRef(s sdktrace.ReadOnlySpan) []byte { return telemetry.EncodeSpanRef(s.SpanContext()) }

// String is all spans with all that they say, to look for what they must not.
func (s *Spans) String() string {
	var text strings.Builder
	for _, span := range s.recorder.Ended() {
		fmt.Fprintf(&text, "%s %s below %s: %v %v %v\n", span.Name(), id(span.SpanContext()), id(span.Parent()),
			span.Attributes(), span.Status(), span.Events())
	}
	return text.String()
}

func id(s trace.SpanContext) string { return s.TraceID().String() + "/" + s.SpanID().String() }

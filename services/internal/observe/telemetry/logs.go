package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// LogHandler returns a handler that adds the trace, the span and the correlation id of a line's context to the line.
func LogHandler(h slog.Handler) slog.Handler { return logHandler{h} }

type logHandler struct{ slog.Handler }

func (t logHandler) Handle(ctx context.Context, r slog.Record) error {
	if s := trace.SpanContextFromContext(ctx); s.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", s.TraceID().String()), slog.String("span_id", s.SpanID().String()))
	}
	if id := CorrelationID(ctx); id != "" {
		said := false
		r.Attrs(func(a slog.Attr) bool { said = a.Key == correlationKey; return !said })
		if !said {
			r = r.Clone()
			r.AddAttrs(slog.String(correlationKey, id))
		}
	}
	return t.Handler.Handle(ctx, r)
}

func (t logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{t.Handler.WithAttrs(attrs)}
}

func (t logHandler) WithGroup(name string) slog.Handler { return logHandler{t.Handler.WithGroup(name)} }

const correlationKey = "correlationId"

type correlationContext struct{}

// WithCorrelationID returns a context whose log lines have a request's correlation id.
func WithCorrelationID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, correlationContext{}, id)
}

// CorrelationID is the id of WithCorrelationID, "" without one.
func CorrelationID(ctx context.Context) string {
	id, _ := ctx.Value(correlationContext{}).(string)
	return id
}

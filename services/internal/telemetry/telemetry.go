// Package telemetry makes the providers of traces from the standard OTEL_…
// environment variables. They are handed to those who need them; nothing global
// is set. Without configuration nothing is recorded, at no cost.
package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Options say who is traced. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override them.
type Options struct {
	Service string
	Version string
	Log     *slog.Logger
}

// Telemetry is what a process observes itself with.
type Telemetry struct {
	Tracer     trace.TracerProvider
	Propagator propagation.TextMapPropagator // W3C trace context
	stop       func(context.Context) error
}

// Open reads OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER (otlp or none; otlp when an
// endpoint is set) and the OTEL_EXPORTER_OTLP_… variables for OTLP over HTTP;
// sampling and batching follow OTEL_TRACES_SAMPLER and OTEL_BSP_…. It connects
// to nothing yet: a collector that is away costs spans, not the service.
func Open(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{
		Tracer:     noop.NewTracerProvider(),
		Propagator: propagation.TraceContext{},
		stop:       func(context.Context) error { return nil },
	}
	on, err := enabled()
	if err != nil || !on {
		return t, err
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	who, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", o.Service), attribute.String("service.version", o.Version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		o.Log.WarnContext(ctx, "telemetry: not all of the resource is known", "error", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(&logged{exporter, o.Log}), sdktrace.WithResource(who))
	t.Tracer, t.stop = provider, provider.Shutdown
	return t, nil
}

// Close sends what is left and stops. ctx bounds how long that may take.
func (t *Telemetry) Close(ctx context.Context) error { return t.stop(ctx) }

// logged says in the service's log what the SDK would print to stderr.
type logged struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

func (l *logged) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := l.SpanExporter.ExportSpans(ctx, spans); err != nil {
		l.log.WarnContext(ctx, "telemetry: spans were lost", "spans", len(spans), "error", err)
	}
	return nil
}

// enabled reads the variables that the SDK leaves to its user.
func enabled() (bool, error) {
	first := func(names ...string) string {
		for _, name := range names {
			if value := os.Getenv(name); value != "" {
				return value
			}
		}
		return ""
	}
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return false, nil
	}
	endpoint := first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	switch exporter := os.Getenv("OTEL_TRACES_EXPORTER"); {
	case exporter == "none", exporter == "" && endpoint == "":
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, fmt.Errorf("telemetry: OTEL_TRACES_EXPORTER is %q: only otlp and none are supported", exporter)
	}
	protocol := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("telemetry: the OTLP protocol %q is not supported: http/protobuf is", protocol)
	}
	return true, nil
}

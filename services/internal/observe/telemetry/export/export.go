// Package export makes the providers of traces and metrics from the standard OTEL_… environment variables. They are
// passed to constructors; nothing global is set. Without configuration nothing is recorded, at no cost.
//
//	traces.go    the provider of traces, and what it samples
//	metrics.go   the provider of metrics, by OTLP and for Prometheus
package export

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// Options name the observed process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override them.
type Options struct {
	Service string
	// Instance tells this process from its replicas.
	Instance string
	Version  string
	// Settings of the metrics. Where Listen is empty OTEL_METRICS_EXPORTER decides.
	Settings Settings
	Log      *slog.Logger
}

// Telemetry is what a process observes itself with.
type Telemetry struct {
	Tracer     trace.TracerProvider
	Propagator propagation.TextMapPropagator // W3C trace context
	Meter      telemetry.Meter
	// Metrics answers Prometheus, and Listen is where it asks; nil and empty where it does not.
	Metrics http.Handler
	Listen  string
	log     *slog.Logger
	stops   []func(context.Context) error
}

// Open reads OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER (otlp or none) and OTEL_METRICS_EXPORTER (otlp, prometheus, both
// with a comma between, or none; otlp when an endpoint is set), and the OTEL_EXPORTER_OTLP_… variables for OTLP over
// HTTP; sampling and batching follow OTEL_TRACES_SAMPLER and OTEL_BSP_…, the interval of metrics
// OTEL_METRIC_EXPORT_INTERVAL. It connects to nothing yet: a collector that is away costs spans and points, not the
// service.
func Open(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{Tracer: noop.NewTracerProvider(), Propagator: propagation.TraceContext{}, log: o.Log}
	if os.Getenv("OTEL_SDK_DISABLED") == "true" {
		return t, nil
	}
	attributes := []attribute.KeyValue{
		attribute.String("service.name", o.Service), attribute.String("service.version", o.Version),
	}
	if o.Instance != "" {
		attributes = append(attributes, attribute.String("service.instance.id", o.Instance))
	}
	who, err := resource.New(ctx, resource.WithAttributes(attributes...),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil {
		o.Log.WarnContext(ctx, "telemetry: not all of the resource is known", "error", err)
	}
	if err := t.openTraces(o, who); err != nil {
		return nil, err
	}
	if err := t.openMetrics(o, who); err != nil {
		t.Close(ctx)
		return nil, err
	}
	return t, nil
}

// Close sends what is left and stops. ctx bounds how long that may take. What cannot be sent is logged: it is no
// failure of the process.
func (t *Telemetry) Close(ctx context.Context) {
	var all sync.WaitGroup
	for _, stop := range t.stops {
		all.Go(func() {
			if err := stop(ctx); err != nil {
				t.log.WarnContext(ctx, "telemetry: the last spans or metrics were lost", "error", err)
			}
		})
	}
	all.Wait()
}

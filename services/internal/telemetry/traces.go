package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"matchmaker.dev/services/internal/telemetry/otlp"
)

func (t *Telemetry) openTraces(o Options, who *resource.Resource) error {
	endpoint := firstEnv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	switch exporter := os.Getenv("OTEL_TRACES_EXPORTER"); {
	case exporter == "none", exporter == "" && endpoint == "":
		return nil
	case exporter != "" && exporter != "otlp":
		return fmt.Errorf("telemetry: OTEL_TRACES_EXPORTER is %q: only otlp and none are supported", exporter)
	}
	if err := protocol("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"); err != nil {
		return err
	}
	exporter, err := otlp.NewSpanExporter(o.Version)
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	options, err := samplerOptions()
	if err != nil {
		return err
	}
	provider := sdktrace.NewTracerProvider(append(options, sdktrace.WithBatcher(&spanExporter{exporter, o.Log}),
		sdktrace.WithResource(who))...)
	t.Tracer, t.stops = provider, append(t.stops, provider.Shutdown)
	return nil
}

// protocol refuses protocols that are not supported.
func protocol(own string) error {
	given := firstEnv(own, "OTEL_EXPORTER_OTLP_PROTOCOL")
	if given != "" && given != "http/protobuf" {
		return fmt.Errorf("telemetry: the OTLP protocol %q is not supported: http/protobuf is", given)
	}
	return nil
}

// spanExporter writes to the service's log what the SDK would print to stderr.
type spanExporter struct {
	sdktrace.SpanExporter
	log *slog.Logger
}

func (s *spanExporter) ExportSpans(ctx context.Context, batch []sdktrace.ReadOnlySpan) error {
	if err := s.SpanExporter.ExportSpans(ctx, batch); err != nil {
		s.log.WarnContext(ctx, "telemetry: spans were lost", "spans", len(batch), "error", err)
	}
	return nil
}

package export

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/otlp"
)

func (t *Telemetry) openTraces(o Options, who *resource.Resource) error {
	endpoint := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
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
	provider, err := sampled(sdktrace.WithBatcher(&spanExporter{exporter, o.Log}), sdktrace.WithResource(who))
	if err != nil {
		return err
	}
	t.Tracer, t.stops = provider, append(t.stops, provider.Shutdown)
	return nil
}

// protocol refuses protocols that are not supported.
func protocol(own string) error {
	given := cmp.Or(os.Getenv(own), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
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

// sampled makes the provider that OTEL_TRACES_SAMPLER asks for.
func sampled(o ...sdktrace.TracerProviderOption) (*sdktrace.TracerProvider, error) {
	name := strings.ToLower(strings.TrimSpace(os.Getenv("OTEL_TRACES_SAMPLER")))
	root := sdktrace.AlwaysSample()
	switch name {
	case "", "parentbased_always_on":
	case "parentbased_always_off":
		root = sdktrace.NeverSample()
	case "parentbased_traceidratio":
		if arg := os.Getenv("OTEL_TRACES_SAMPLER_ARG"); arg != "" {
			ratio, err := strconv.ParseFloat(arg, 64)
			if err != nil || ratio < 0 || ratio > 1 {
				return nil, fmt.Errorf("telemetry: OTEL_TRACES_SAMPLER_ARG is %q: a number from 0 to 1 is needed", arg)
			}
			root = sdktrace.TraceIDRatioBased(ratio)
		}
	case "always_on", "always_off", "traceidratio":
		return telemetry.NewUnlinkedProvider(o...), nil
	default:
		return nil, fmt.Errorf("telemetry: OTEL_TRACES_SAMPLER is %q: "+
			"always_on, always_off, traceidratio, and parentbased_ with one of these are supported", name)
	}
	return telemetry.NewProvider(root, o...), nil
}

package export

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	bridge "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"

	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/otlp"
)

func (t *Telemetry) openMetrics(o Options, who *resource.Resource) error {
	byOTLP, byPrometheus, err := exporters()
	if err != nil {
		return err
	}
	t.Listen = o.Settings.Listen
	if t.Listen == "" && byPrometheus {
		t.Listen = net.JoinHostPort(cmp.Or(os.Getenv("OTEL_EXPORTER_PROMETHEUS_HOST"), "localhost"),
			cmp.Or(os.Getenv("OTEL_EXPORTER_PROMETHEUS_PORT"), "9464"))
	}
	if !byOTLP && t.Listen == "" {
		return nil
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(who)}
	if byOTLP {
		if err := protocol("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL"); err != nil {
			return err
		}
		exporter, err := otlp.NewMetricExporter(o.Version)
		if err != nil {
			return fmt.Errorf("telemetry: %w", err)
		}
		options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(&metricExporter{exporter, o.Log})))
	}
	if t.Listen != "" {
		registry := prometheus.NewRegistry()
		// The process's metrics are for sizing; the bridge does not have them.
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		reader, err := bridge.New(bridge.WithRegisterer(registry), bridge.WithoutScopeInfo())
		if err != nil {
			return fmt.Errorf("telemetry: %w", err)
		}
		options = append(options, sdkmetric.WithReader(reader))
		t.Metrics = promhttp.HandlerFor(registry,
			promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelWarn),
				ErrorHandling: promhttp.ContinueOnError})
	}
	provider := sdkmetric.NewMeterProvider(options...)
	t.stops = append(t.stops, provider.Shutdown)
	t.Meter = telemetry.NewMeter(provider.Meter("matchmaker.dev/services"), o.Settings.Values, o.Log)
	return nil
}

// exporters reads OTEL_METRICS_EXPORTER.
func exporters() (otlp, prom bool, err error) {
	given := os.Getenv("OTEL_METRICS_EXPORTER")
	if given == "" {
		endpoint := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
		return endpoint != "", false, nil
	}
	for name := range strings.SplitSeq(given, ",") {
		switch strings.TrimSpace(name) {
		case "otlp":
			otlp = true
		case "prometheus":
			prom = true
		case "none":
		default:
			return false, false, fmt.Errorf("telemetry: OTEL_METRICS_EXPORTER is %q: "+
				"only otlp, prometheus and none are supported", given)
		}
	}
	return otlp, prom, nil
}

// metricExporter writes to the service's log what the SDK would print to stderr.
type metricExporter struct {
	sdkmetric.Exporter
	log *slog.Logger
}

func (p *metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	if err := p.Exporter.Export(ctx, m); err != nil {
		p.log.WarnContext(ctx, "telemetry: metrics were not taken; the next ones have what these had", "error", err)
	}
	return nil
}

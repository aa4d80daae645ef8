package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/export"
)

func open(t *testing.T, o export.Options) *export.Telemetry {
	t.Helper()
	o.Log = slog.New(slog.DiscardHandler)
	got, err := export.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// scrape is what Prometheus reads.
func scrape(t *testing.T, of *export.Telemetry) string {
	t.Helper()
	answer := httptest.NewRecorder()
	of.Metrics.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if answer.Code != http.StatusOK {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func TestPrometheus(t *testing.T) {
	clean(t)
	got := open(t, export.Options{Service: "matchmaker-ticket", Instance: "ticket-1",
		Settings: export.Settings{Listen: "127.0.0.1:0"}})
	m := got.Meter
	m.Counter("matchmaker.things", "{thing}", "Things.").Add(t.Context(), 3,
		telemetry.WithLabels([]attribute.KeyValue{attribute.String("kind", "good")}))
	m.WorkSeconds("matchmaker.work", "Work.").Record(t.Context(), 0.002)
	m.Gauge("matchmaker.size", "By", "Size.").Record(t.Context(), 42)
	m.UpDownCounter("matchmaker.queue", "{thing}", "Queue.").Add(t.Context(), -1)
	m.ObservableGauge("matchmaker.age", "s", "Age.",
		func(_ context.Context, observe telemetry.Observe) { observe(1.5, attribute.String("of", "x")) })
	text := scrape(t, got)
	for _, want := range []string{
		"\nmatchmaker_things_total{kind=\"good\"} 3\n", "\nmatchmaker_work_seconds_bucket{le=\"0.0025\"} 1\n",
		"\nmatchmaker_size_bytes 42\n",
		"\nmatchmaker_queue -1\n", "\nmatchmaker_age_seconds{of=\"x\"} 1.5\n", "\ngo_goroutines ",
		"\nprocess_resident_memory_bytes ",
		`service_name="matchmaker-ticket"`, `service_instance_id="ticket-1"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	got.Close(t.Context())
}

// TestLabelsAreBounded: whatever names come, the series are bounded, and no project takes the share of the others.
func TestLabelsAreBounded(t *testing.T) {
	clean(t)
	got := open(t, export.Options{Settings: export.Settings{Listen: "127.0.0.1:0", Values: 3}})
	things, labels := got.Meter.Counter("matchmaker.things", "{thing}", "Things."), got.Meter.Labels("project", "config")
	for i := range 100 {
		name := fmt.Sprint("config-", i)
		things.Add(t.Context(), 1, telemetry.WithLabels(labels.Of("demo", name)))
		things.Add(t.Context(), 1, labels.Option("demo", name))
	}
	for _, late := range [][]string{{"second", "config-0"}, {"second", "config-1"}, {"third", "config-0"}} {
		things.Add(t.Context(), 1, labels.Option(late...))
	}
	var series []string
	for line := range strings.Lines(scrape(t, got)) {
		if strings.HasPrefix(line, "matchmaker_things_total") {
			series = append(series, strings.TrimSpace(line))
		}
	}
	want := `matchmaker_things_total{config="config-0",project="demo"} 2
matchmaker_things_total{config="config-0",project="second"} 1
matchmaker_things_total{config="config-1",project="demo"} 2
matchmaker_things_total{config="other",project="demo"} 196
matchmaker_things_total{config="other",project="other"} 1
matchmaker_things_total{config="other",project="second"} 1`
	if text := strings.Join(series, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestMetricsReachTheCollector(t *testing.T) {
	received := make(chan []byte, 4)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- append([]byte(r.URL.Path+" "), body...)
	}))
	defer collector.Close()
	clean(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	got := open(t, export.Options{Service: "matchmaker"})
	if got.Metrics != nil || got.Listen != "" {
		t.Error("Prometheus is served unasked")
	}
	got.Meter.Counter("matchmaker.things", "{thing}", "Things.").Add(t.Context(), 3)
	got.Close(t.Context())
	if body := <-received; !bytes.HasPrefix(body, []byte("/v1/metrics ")) ||
		!bytes.Contains(body, []byte("matchmaker.things")) {
		t.Errorf("got %q", body)
	}
}

func TestWhereMetricsGo(t *testing.T) {
	for name, tt := range map[string]struct {
		env    []string
		listen string
		on     bool
	}{
		"nothing":     {},
		"by address":  {listen: "127.0.0.1:0", on: true},
		"by variable": {env: []string{"OTEL_METRICS_EXPORTER", "prometheus"}, listen: "localhost:9464", on: true},
		"another port": {env: []string{"OTEL_METRICS_EXPORTER", "prometheus", "OTEL_EXPORTER_PROMETHEUS_HOST", "::1",
			"OTEL_EXPORTER_PROMETHEUS_PORT", "1"}, listen: "[::1]:1", on: true},
		"only traces":   {env: []string{"OTEL_METRICS_EXPORTER", "none", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"}},
		"SDK disabled":  {env: []string{"OTEL_METRICS_EXPORTER", "prometheus", "OTEL_SDK_DISABLED", "true"}},
		"both of these": {env: []string{"OTEL_METRICS_EXPORTER", "otlp, prometheus"}, listen: "localhost:9464", on: true},
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			for i := 0; i < len(tt.env); i += 2 {
				t.Setenv(tt.env[i], tt.env[i+1])
			}
			o := export.Options{}
			if tt.env == nil {
				o.Settings.Listen = tt.listen
			}
			got := open(t, o)
			if got.Listen != tt.listen || (got.Metrics != nil) != (tt.listen != "") || got.Meter.Enabled() != tt.on {
				t.Errorf("listens on %q, served %t, on %t", got.Listen, got.Metrics != nil, got.Meter.Enabled())
			}
		})
	}
	clean(t)
	t.Setenv("OTEL_METRICS_EXPORTER", "statsd")
	_, err := export.Open(t.Context(), export.Options{Log: slog.New(slog.DiscardHandler)})
	if want := `telemetry: OTEL_METRICS_EXPORTER is "statsd": only otlp, prometheus and none are supported`; fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestTheZeroMeter: callers need not check for it.
func TestTheZeroMeter(t *testing.T) {
	var m telemetry.Meter
	if m.Enabled() {
		t.Error("it records")
	}
	m.Counter("a.b", "1", "").Add(t.Context(), 1)
	m.WorkSeconds("a.c", "").Record(t.Context(), 1)
	m.ObservableGauge("a.d", "1", "", func(context.Context, telemetry.Observe) { t.Error("somebody looked") })
}

func TestLogsKnowTheirTrace(t *testing.T) {
	var out strings.Builder
	log := slog.New(telemetry.LogHandler(slog.NewJSONHandler(&out, nil))).With("part", "x")
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1, 2}, SpanID: trace.SpanID{3}})
	ctx := telemetry.WithCorrelationID(trace.ContextWithSpanContext(t.Context(), span), "req-1")
	log.InfoContext(ctx, "one")
	log.InfoContext(ctx, "two", "correlationId", "said")
	log.Info("three")
	var lines []map[string]any
	for line := range strings.Lines(out.String()) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if lines[0]["trace_id"] != "01020000000000000000000000000000" || lines[0]["span_id"] != "0300000000000000" ||
		lines[0]["correlationId"] != "req-1" || lines[0]["part"] != "x" {
		t.Errorf("got %v", lines[0])
	}
	if strings.Count(out.String(), "correlationId") != 2 || lines[1]["correlationId"] != "said" {
		t.Errorf("got %s", &out)
	}
	if lines[2]["trace_id"] != nil || lines[2]["correlationId"] != nil {
		t.Errorf("got %v", lines[2])
	}
}

package export_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace/noop"

	"matchmaker.dev/services/internal/observe/telemetry/export"
)

// clean takes the variables of the surroundings away.
func clean(t *testing.T) {
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES",
		"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_METRICS_EXPORTER", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
		"OTEL_EXPORTER_PROMETHEUS_HOST", "OTEL_EXPORTER_PROMETHEUS_PORT",
	} {
		t.Setenv(name, "")
	}
}

func TestOff(t *testing.T) {
	for name, env := range map[string][]string{
		"nothing configured": {},
		"exporter none":      {"OTEL_TRACES_EXPORTER", "none", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"},
		"SDK disabled":       {"OTEL_SDK_DISABLED", "true", "OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318"},
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			for i := 0; i < len(env); i += 2 {
				t.Setenv(env[i], env[i+1])
			}
			got, err := export.Open(t.Context(), export.Options{Service: "ticket", Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			if _, off := got.Tracer.(noop.TracerProvider); !off {
				t.Errorf("the tracer is a %T", got.Tracer)
			}
			got.Close(t.Context())
		})
	}
}

func TestUnsupported(t *testing.T) {
	for want, env := range map[string][2]string{
		`telemetry: OTEL_TRACES_EXPORTER is "zipkin": only otlp and none are supported`: {"OTEL_TRACES_EXPORTER", "zipkin"},
		`telemetry: the OTLP protocol "grpc" is not supported: http/protobuf is`: {"OTEL_EXPORTER_OTLP_PROTOCOL",
			"grpc"},
	} {
		clean(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
		t.Setenv(env[0], env[1])
		if _, err := export.Open(t.Context(), export.Options{}); fmt.Sprint(err) != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestSpansReachTheCollector(t *testing.T) {
	received := make(chan []byte, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- append([]byte(r.URL.Path+" "), body...)
	}))
	defer collector.Close()
	clean(t)
	t.Setenv("OTEL_METRICS_EXPORTER", "none")
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test-room,service.version=v2-of-the-environment")
	got, err := export.Open(t.Context(), export.Options{Service: "ticket-service", Version: "v1.2.3",
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	_, span := got.Tracer.Tracer("t").Start(t.Context(), "a-span-name")
	span.End()
	got.Close(t.Context())
	body := <-received
	for _, want := range []string{"/v1/traces ", "a-span-name", "ticket-service", "v2-of-the-environment", "test-room"} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("%q was not sent", want)
		}
	}
}

func TestLostSpansAreLogged(t *testing.T) {
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusBadRequest) // a status the exporter does not retry
	}))
	defer collector.Close()
	clean(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	var out strings.Builder
	got, err := export.Open(t.Context(), export.Options{Service: "ticket",
		Log: slog.New(slog.NewTextHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, span := got.Tracer.Tracer("t").Start(t.Context(), "s")
	span.End()
	got.Close(t.Context())
	if !strings.Contains(out.String(), "spans were lost") {
		t.Errorf("logged %q", &out)
	}
}

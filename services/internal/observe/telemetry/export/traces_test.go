package export_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/export"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
)

func TestSampler(t *testing.T) {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_,
			_ = io.Copy(io.Discard, r.Body)
	}))
	defer collector.Close()
	for name, tt := range map[string]struct {
		sampler, ratio string
		root, linked   bool
		err            string
	}{
		"nothing said":                        {root: true, linked: true},
		"always on":                           {sampler: "always_on", root: true, linked: true},
		"always off":                          {sampler: "always_off"},
		"off, but for what belongs to others": {sampler: "parentbased_always_off", linked: true},
		"none of them":                        {sampler: "parentbased_traceidratio", ratio: "0", linked: true},
		"none at all":                         {sampler: "traceidratio", ratio: "0"},
		"all of them":                         {sampler: "parentbased_traceidratio", root: true, linked: true},
		"no number": {sampler: "parentbased_traceidratio", ratio: "1 %",
			err: `OTEL_TRACES_SAMPLER_ARG is "1 %"`},
		"too much": {sampler: "parentbased_traceidratio", ratio: "1.5",
			err: `OTEL_TRACES_SAMPLER_ARG is "1.5"`},
		"unknown": {sampler: "xray", err: `OTEL_TRACES_SAMPLER is "xray"`},
	} {
		t.Run(name, func(t *testing.T) {
			clean(t)
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
			t.Setenv("OTEL_METRICS_EXPORTER", "none")
			t.Setenv("OTEL_TRACES_SAMPLER", tt.sampler)
			t.Setenv("OTEL_TRACES_SAMPLER_ARG", tt.ratio)
			if tt.err != "" {
				if _, err := export.Open(t.Context(), export.Options{}); err == nil ||
					!strings.Contains(err.Error(), tt.err) {
					t.Fatalf("got %v, want %s", err, tt.err)
				}
				return
			}
			got := open(t, export.Options{})
			defer got.Close(context.WithoutCancel(t.Context()))
			tracer := telemetry.NewTracer(got.Tracer, "t")
			_, mark := spantest.New(t, sdktrace.NeverSample()).Request(t.Context())
			_, root := tracer.Start(t.Context(), "root")
			_, linked := tracer.Start(t.Context(), "linked", trace.WithLinks(telemetry.Links(mark)...))
			if root.IsRecording() != tt.root || linked.IsRecording() != tt.linked {
				t.Errorf("recorded: root %v, linked %v; want %v, %v", root.IsRecording(), linked.IsRecording(), tt.root, tt.linked)
			}
		})
	}
}

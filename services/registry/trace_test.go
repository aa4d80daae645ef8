package registry

import (
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/observe/telemetry/spantest"
)

// TestUploadIsTraced: what takes long in it has a span of its own, and so has what is swept behind it; the log names
// the trace.
func TestUploadIsTraced(t *testing.T) {
	t.Parallel()
	spans, log := spantest.New(t, sdktrace.AlwaysSample()), new(spantest.Log)
	b := startWith(t, web.Options{Tracer: spans.Provider}, func(o *Options) {
		o.Tracer, o.Log = spans.Tracer("registry"), slog.New(telemetry.LogHandler(slog.NewTextHandler(log, nil)))
		o.Settings.ModuleGrace = 60 * time.Millisecond
	})
	wants[response.Function](t, b.put(t, "/functions/duel", guest{}.wasm()), http.StatusOK)
	request, check, store := spans.Wait("PUT /:project/matchmaking/api/v1/functions/:name"), spans.Wait("check module"),
		spans.Wait("store module")
	if !spantest.IsChildOf(check, spantest.SpanRef(request)) || !spantest.IsChildOf(store, spantest.SpanRef(request)) ||
		spantest.Attribute(request, "matchmaker.function") != "duel" {
		t.Error(spans)
	}
	if !log.HasLine("function uploaded", "trace_id="+request.SpanContext().TraceID().String(), "correlationId=") {
		t.Errorf("the log names no trace and no request:\n%s", log)
	}
	eventually(t, "a sweep", func() error {
		if len(spans.Named("sweep modules")) == 0 {
			return errors.New("there is none")
		}
		return nil
	})
	refused(t, b.put(t, "/functions/other", []byte("\x00asm\x01\x00\x00\x00")), http.StatusBadRequest, "file")
	failed := spans.Named("check module")[1]
	if failed.Status().Code != codes.Error || spantest.Attribute(failed, "error.type") != "invalid" {
		t.Error(spans)
	}
}

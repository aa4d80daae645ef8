package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"matchmaker.dev/services/internal/web"
)

// logLines waits until n lines were logged: a line is written after its answer.
func logLines(t *testing.T, logged *lines, n int) []map[string]any {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for strings.Count(logged.String(), "\n") < n {
		if time.Now().After(deadline) {
			t.Fatalf("%d lines wanted, got:\n%s", n, logged)
		}
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
	var all []map[string]any
	for scanner := bufio.NewScanner(strings.NewReader(logged.String())); scanner.Scan(); {
		line := map[string]any{}
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func TestAccessLog(t *testing.T) {
	at := time.Unix(1, 0)
	url, logged := serve(t, slog.LevelDebug, web.Options{Now: func() time.Time { return at }})
	for i, tt := range []struct {
		path, level, route string
		status             float64
		message            string // of the error, or ""
	}{
		{"/demo/matchmaking/api/v1/tickets?id=hidden-ticket", "DEBUG", web.Base + "/tickets", 200, ""},
		{"/fail/notfound", "INFO", "/fail/notfound", 404, "no such ticket"},
		{"/fail/wrapped", "INFO", "/fail/wrapped", 404, "while claiming: no such ticket: the cause"},
		{"/fail/unavailable", "WARN", "/fail/unavailable", 503, "redis"},
		{"/fail/foreign", "ERROR", "/fail/foreign", 500, "dial tcp: the secret"},
		{"/fail/late", "ERROR", "/fail/late", 200, "too late for a problem"},
	} {
		do(t, "GET", url+tt.path, "", nil, "Authorization", "Bearer hidden-token", web.HeaderCorrelationID, "c-1")
		line := logLines(t, logged, i+1)[i]
		for key, want := range map[string]any{
			"msg": "request", "level": tt.level, "method": "GET", "route": tt.route,
			"status": tt.status, "took": 0.0, "correlationId": "c-1",
		} {
			if line[key] != want {
				t.Errorf("%s: %s is %v, want %v", tt.path, key, line[key], want)
			}
		}
		if got, _ := line["error"].(string); got != tt.message {
			t.Errorf("%s: error %q, want %q", tt.path, got, tt.message)
		}
	}
	if strings.Contains(logged.String(), "hidden") {
		t.Errorf("the log shows what it must not:\n%s", logged)
	}
}

func TestGoodRequestsAreNotLoggedAtInfo(t *testing.T) {
	url, logged := serve(t, slog.LevelInfo, web.Options{})
	do(t, "GET", url+"/demo/matchmaking/api/v1/tickets", "", nil)
	do(t, "GET", url+"/fail/notfound", "", nil)
	if all := logLines(t, logged, 1); all[0]["status"] != 404.0 {
		t.Errorf("first line: %v", all[0])
	}
}

func TestClientThatHangsUpIsNoFailure(t *testing.T) {
	url, logged := serve(t, slog.LevelDebug, web.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { cancel() }})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/fail/slow", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
		t.Fatal("the request was answered")
	}
	if line := logLines(t, logged, 1)[0]; line["status"] != 499.0 || line["level"] != "INFO" {
		t.Errorf("got %v", line)
	}
}

func TestPanicIsLoggedWithItsStack(t *testing.T) {
	url, logged := serve(t, slog.LevelInfo, web.Options{})
	do(t, "GET", url+"/fail/panic", "", nil, web.HeaderCorrelationID, "c-2")
	line := logLines(t, logged, 2)[0]
	if line["msg"] != "handler panicked" || line["correlationId"] != "c-2" || !strings.Contains(line["stack"].(string), "web_test") {
		t.Errorf("got %v", line)
	}
}

func TestTrace(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	url, _ := serve(t, slog.LevelError+1, web.Options{
		Tracer:     sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)),
		Propagator: propagation.TraceContext{},
	})
	const parent = "4bf92f3577b34da6a3ce929d0e0e4736"
	do(t, "GET", url+"/demo/matchmaking/api/v1/tickets?id=t", "", nil,
		"Traceparent", "00-"+parent+"-00f067aa0ba902b7-01", web.HeaderCorrelationID, "c-3")
	do(t, "GET", url+"/fail/foreign", "", nil)
	deadline := time.Now().Add(10 * time.Second)
	for len(spans.Ended()) < 2 && time.Now().Before(deadline) {
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
	ended := spans.Ended()
	if len(ended) != 2 {
		t.Fatalf("%d spans", len(ended))
	}
	good, bad := ended[0], ended[1]
	if got := good.SpanContext().TraceID().String(); got != parent {
		t.Errorf("trace %s, want the caller's", got)
	}
	if want := "GET " + web.Base + "/tickets"; good.Name() != want {
		t.Errorf("name %q, want %q", good.Name(), want)
	}
	want := attribute.NewSet(
		attribute.String("http.request.method", "GET"), attribute.String("http.route", web.Base+"/tickets"),
		attribute.String("matchmaker.correlation_id", "c-3"), attribute.Int("http.response.status_code", http.StatusOK))
	if got := attribute.NewSet(good.Attributes()...); !got.Equals(&want) {
		t.Errorf("attributes %v", good.Attributes())
	}
	if good.Status().Code != codes.Unset || bad.Status().Code != codes.Error {
		t.Errorf("statuses %v, %v", good.Status(), bad.Status())
	}
}

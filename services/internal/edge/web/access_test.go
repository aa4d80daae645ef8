package web_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"matchmaker.dev/services/internal/edge/web"
)

// logLines waits until n lines were logged: a line is written after its answer.
func logLines(t *testing.T, logged *lines, n int) []map[string]any {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
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
		{"/fail/wrapped", "INFO", "/fail/wrapped", 404, "no such ticket: the cause"},
		{"/fail/named", "INFO", "/fail/named", 409, "player … is not ready"},
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
	for _, path := range []string{"/fail/slow", "/fail/gone"} {
		url, logged := serve(t, slog.LevelDebug, web.Options{})
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: test\r\n\r\n")
		if err = errors.Join(err, conn.Close()); err != nil {
			t.Fatal(err)
		}
		line := logLines(t, logged, 1)[0]
		if line["status"] != 499.0 || line["level"] != "INFO" ||
			line["error"] != "the client closed the connection before the answer" {
			t.Errorf("%s: got %v", path, line)
		}
	}
}

func TestPanicIsLoggedWithItsStack(t *testing.T) {
	url, logged := serve(t, slog.LevelInfo, web.Options{})
	do(t, "GET", url+"/fail/panic", "", nil, web.HeaderCorrelationID, "c-2")
	line := logLines(t, logged, 2)[0]
	if line["msg"] != "handler panicked" || line["correlationId"] != "c-2" ||
		!strings.Contains(line["stack"].(string), "web_test") {
		t.Errorf("got %v", line)
	}
}

// TestCorrelationIDIsInAllFour: whatever fails, and wherever the id comes from, the body that a user shows to support,
// the header, the log line and the trace have the same one.
func TestCorrelationIDIsInAllFour(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	url, logged := serve(t, slog.LevelInfo,
		web.Options{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))})
	base := url + "/demo/matchmaking/api/v1"
	seen := map[string]bool{}
	for i, tt := range []struct {
		method, url, body, given string
		status                   int
	}{
		{"POST", base + "/tickets", `{"attributes":{"a":"b"}}`, "", 400},
		{"GET", url + "/fail/notfound", "", "given-1", 404},
		{"GET", base + "/nothing", "", "", 404},
		{"PATCH", base + "/tickets", "", "given-2", 405},
		{"POST", base + "/tickets", strings.Repeat(" ", 64<<10), "", 413},
		{"GET", url + "/fail/foreign", "", "", 500},
		{"GET", url + "/fail/foreign", "", "not a plain one", 500},
		{"GET", url + "/fail/unavailable", "", "given-3", 503},
	} {
		header := []string{"Content-Type", "application/json"}
		if tt.given != "" {
			header = append(header, web.HeaderCorrelationID, tt.given)
		}
		var body io.Reader
		if tt.body != "" {
			body = strings.NewReader(tt.body)
		}
		res := do(t, tt.method, tt.url, "", body, header...)
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		id := res.Header.Get(web.HeaderCorrelationID)
		if res.StatusCode != tt.status || id == "" || seen[id] || strings.HasPrefix(tt.given, "given") && id != tt.given {
			t.Errorf("%s %s: status %d, the id %q, which was seen: %t", tt.method, tt.url, res.StatusCode, id, seen[id])
		}
		seen[id] = true
		var problem struct {
			Extensions struct{ CorrelationID string }
		}
		if err := json.Unmarshal(text, &problem); err != nil || problem.Extensions.CorrelationID != id {
			t.Errorf("%s %s: the header says %q, the body %s", tt.method, tt.url, id, text)
		}
		if line := logLines(t, logged, i+1)[i]; line["correlationId"] != id {
			t.Errorf("%s %s: the header says %q, the log %v", tt.method, tt.url, id, line)
		}
		if span := ended(t, spans, i+1)[i]; !slices.Contains(span.Attributes(),
			attribute.String("matchmaker.correlation_id", id)) {
			t.Errorf("%s %s: the header says %q, the trace %v", tt.method, tt.url, id, span.Attributes())
		}
	}
}

// ended waits until n spans have ended: a span ends after its answer.
func ended(t *testing.T, spans *tracetest.SpanRecorder, n int) []sdktrace.ReadOnlySpan {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for len(spans.Ended()) < n && time.Now().Before(deadline) {
		select {
		case <-t.Context().Done():
		case <-time.After(time.Millisecond):
		}
	}
	all := spans.Ended()
	if len(all) != n {
		t.Fatalf("%d spans, want %d", len(all), n)
	}
	return all
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
	all := ended(t, spans, 2)
	good, bad := all[0], all[1]
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

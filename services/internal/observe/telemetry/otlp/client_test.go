package otlp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"matchmaker.dev/pkg/client/transporttest"
)

// pipes is a network of one server. It lets a bubble of synctest own the time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }
func (p pipes) Close() error   { return nil }

// exportTo exports a span to a collector in the bubble.
func exportTo(ctx context.Context, t *testing.T, collector http.HandlerFunc) error {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector")
	e, err := NewSpanExporter("v")
	if err != nil {
		t.Fatal(err)
	}
	network := make(pipes)
	transport, _ := e.(spanExporter).http.Transport.(*http.Transport)
	transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		network <- far
		return near, nil
	}
	server := &http.Server{Handler: collector}
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(network) })
	defer func() {
		_ = e.Shutdown(t.Context())
		close(network)
		_ = server.Close()
		done.Wait()
	}()
	return e.ExportSpans(ctx, tracetest.SpanStubs{{Name: "a span"}}.Snapshots())
}

// answer is what the collector does with a request: a status, or nothing for 0, or to close the connection for -1.
type answer struct {
	status int
	after  string // Retry-After
}

func TestRetries(t *testing.T) {
	type between [2]time.Duration
	exactly := func(d time.Duration) between { return between{d, d} }
	ok, busy, silent := answer{200, ""}, answer{503, ""}, answer{0, ""}
	soon := between{800 * time.Millisecond, 1200 * time.Millisecond}
	for name, tt := range map[string]struct {
		timeout string
		answers []answer // the last one again and again
		tries   int
		took    between
		err     string
	}{
		"taken":           {answers: []answer{ok}, tries: 1},
		"other success":   {answers: []answer{{202, ""}}, tries: 1},
		"busy":            {answers: []answer{busy, ok}, tries: 2, took: soon},
		"bad gateway":     {answers: []answer{{502, ""}, ok}, tries: 2, took: soon},
		"gateway timeout": {answers: []answer{{504, ""}, ok}, tries: 2, took: soon},
		"closed":          {answers: []answer{{-1, ""}, ok}, tries: 2, took: soon},
		"throttled":       {answers: []answer{{429, "7"}, ok}, tries: 2, took: exactly(7 * time.Second)},
		"until a date": { // a bubble begins at midnight of that day
			answers: []answer{{503, "Sat, 01 Jan 2000 00:00:05 GMT"}, ok}, tries: 2, took: exactly(5 * time.Second),
		},
		"busy for long": {
			answers: []answer{busy}, tries: 5, took: between{6 * time.Second, 10 * time.Second},
			err: "http://collector/v1/traces: 503 Service Unavailable: why",
		},
		"throttled for too long": {answers: []answer{{429, "10"}}, tries: 1, err: "429 Too Many Requests: why"},
		"silent": {
			answers: []answer{silent}, tries: 1, took: exactly(10 * time.Second), err: "deadline exceeded",
		},
		"silent, own timeout": {
			timeout: "250", answers: []answer{silent}, tries: 1, took: exactly(250 * time.Millisecond), err: "deadline exceeded",
		},
		"no timeout":   {timeout: "0", answers: []answer{{429, "50"}, ok}, tries: 2, took: exactly(50 * time.Second)},
		"bad request":  {answers: []answer{{400, "1"}}, tries: 1, err: "400 Bad Request: why"},
		"server error": {answers: []answer{{500, "1"}}, tries: 1, err: "500 Internal Server Error: why"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", tt.timeout)
			synctest.Test(t, func(t *testing.T) {
				var bodies []string
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := exportTo(ctx, t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					now := tt.answers[min(len(bodies), len(tt.answers)-1)]
					bodies = append(bodies, string(body))
					switch now.status {
					case 0:
						<-r.Context().Done()
					case -1:
						panic(http.ErrAbortHandler)
					default:
						w.Header().Set("Retry-After", now.after)
						http.Error(w, "why", now.status)
					}
				})
				took := time.Since(began)
				if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				if len(bodies) != tt.tries || took < tt.took[0] || took > tt.took[1] {
					t.Errorf("%d tries in %v, want %d in %v", len(bodies), took, tt.tries, tt.took)
				}
				for _, body := range bodies {
					if body != bodies[0] || !strings.Contains(body, "a span") {
						t.Errorf("sent %q after %q", body, bodies[0])
					}
				}
			})
		})
	}
}

// TestPauseEndsWithTheContext: a process that stops waits for no pause.
func TestPauseEndsWithTheContext(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		err := exportTo(ctx, t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
			time.AfterFunc(time.Second, cancel)
		})
		if took := time.Since(began); err == nil || took != time.Second {
			t.Errorf("got %v after %v", err, took)
		}
	})
}

// TestResponses: what a collector says about a request is in the error.
func TestResponses(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "")
	part := func(rejected int64, text string) string {
		body, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{
			PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: text},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	long := strings.Repeat("x", 10_000)
	for name, tt := range map[string]struct {
		status     int
		kind, body string
		err        string
	}{
		"nothing":            {200, contentType, "", ""},
		"an empty part":      {200, contentType, part(0, ""), ""},
		"some are rejected":  {200, contentType, part(3, "too old"), "3 rejected: too old"},
		"with a parameter":   {200, contentType + "; charset=utf-8", part(3, ""), "3 rejected: "},
		"a warning":          {200, contentType, part(0, "use TLS"), "0 rejected: use TLS"},
		"not protobuf":       {200, "application/json", `{"partialSuccess":{}}`, ""},
		"broken":             {200, contentType, "\x0a\xff", "response: "},
		"text":               {400, "text/plain", "no\n", "400 Bad Request: no"},
		"status as protobuf": {400, contentType, "\x08\x03\x12\x07no such", "400 Bad Request: no such"},
		"a long text":        {400, "text/plain", long, "400 Bad Request: " + long[:maxText]},
		"a long warning":     {200, contentType, part(0, long), "0 rejected: " + long[:maxText]},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := exportTo(t.Context(), t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", tt.kind)
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.body)
				})
				got, want := fmt.Sprint(err), "<nil>"
				if tt.err != "" {
					want = "http://collector/v1/traces: " + tt.err
				}
				if name == "broken" { // protobuf's own text changes
					got = got[:min(len(got), len(want))]
				}
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

// TestResponsesAreBounded: a collector cannot fill the memory.
func TestResponsesAreBounded(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "")
	synctest.Test(t, func(t *testing.T) {
		sent := make(chan int, 1)
		if err := exportTo(t.Context(), t, func(w http.ResponseWriter, _ *http.Request) {
			taken, piece := 0, make([]byte, 64<<10)
			for taken < 64<<20 {
				n, err := w.Write(piece)
				taken += n
				if err != nil {
					break
				}
			}
			sent <- taken
		}); err != nil {
			t.Error(err)
		}
		if n := <-sent; n > 1<<20 {
			t.Errorf("the exporter read %d bytes", n)
		}
	})
}

func TestConnectionThatDiesSilentlyIsReplaced(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector")
	transporttest.ReplacesSilent(t, func() *http.Transport {
		c, err := newClient(traces, "v")
		if err != nil {
			t.Fatal(err)
		}
		return c.http.Transport.(*http.Transport)
	})
}

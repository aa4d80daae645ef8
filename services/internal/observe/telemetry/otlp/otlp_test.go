package otlp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"matchmaker.dev/services/allocator/provider/conformance"
	"matchmaker.dev/services/internal/observe/telemetry/otlp"
)

// request is one that a collector got.
type request struct {
	protocol string
	url      string
	header   http.Header
	body     []byte
}

// handler takes requests in.
func handler(requests chan<- request) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		requests <- request{r.Proto, r.URL.String(), r.Header, body}
	}
}

// startCollector starts a collector.
func startCollector(t *testing.T) (url string, requests <-chan request) {
	t.Helper()
	got := make(chan request, 2)
	s := httptest.NewServer(handler(got))
	t.Cleanup(s.Close)
	return s.URL, got
}

// setenv sets variables without their prefix, and no others of it.
func setenv(t *testing.T, variables map[string]string) {
	t.Helper()
	const prefix = "OTEL_EXPORTER_OTLP_"
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, prefix) {
			t.Setenv(name, "")
		}
	}
	for name, value := range variables {
		t.Setenv(prefix+name, value)
	}
}

// export exports a span and metrics, as the environment says.
func export(t *testing.T, spans []sdktrace.ReadOnlySpan, metrics *metricdata.ResourceMetrics) error {
	t.Helper()
	s, err := otlp.NewSpanExporter("v1.2.3")
	if err != nil {
		return err
	}
	m, err := otlp.NewMetricExporter("v1.2.3")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return errors.Join(s.ExportSpans(ctx, spans), m.Export(ctx, metrics), s.Shutdown(ctx), m.Shutdown(ctx))
}

func exportOne(t *testing.T) error {
	t.Helper()
	return export(t, tracetest.SpanStubs{{Name: "a span"}}.Snapshots(), &metricdata.ResourceMetrics{})
}

// check decodes a request and compares it.
func check(t *testing.T, body []byte, got, want proto.Message, text string) {
	t.Helper()
	if err := errors.Join(proto.Unmarshal(body, got), prototext.Unmarshal([]byte(text), want)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func at(seconds int64) time.Time { return time.Unix(seconds, 1) }

func TestSpans(t *testing.T) {
	url, requests := startCollector(t)
	setenv(t, map[string]string{"ENDPOINT": url})
	state, err := trace.ParseTraceState("k=v")
	if err != nil {
		t.Fatal(err)
	}
	span := func(id byte, remote bool) trace.SpanContext {
		return trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: trace.TraceID{15: 1}, SpanID: trace.SpanID{7: id}, TraceFlags: trace.FlagsSampled, TraceState: state,
			Remote: remote,
		})
	}
	who := resource.NewWithAttributes("https://schema/1", attribute.String("service.name", "ticket"))
	one := instrumentation.Scope{
		Name: "one", Version: "v1", SchemaURL: "https://schema/2", Attributes: attribute.NewSet(attribute.Bool("own", true)),
	}
	two := instrumentation.Scope{Name: "two"}
	spans := tracetest.SpanStubs{
		{
			Name: "all \xff", SpanContext: span(2, false), Parent: span(1, true), SpanKind: trace.SpanKindServer,
			StartTime: at(1), EndTime: at(2), Resource: who, InstrumentationScope: one,
			Attributes: []attribute.KeyValue{
				attribute.Bool("bool", true), attribute.Int("int", -5), attribute.Float64("float", 1.5),
				attribute.String("text", "a \xff"), attribute.Int64Slice("ints", []int64{1, -2}),
				attribute.StringSlice("texts", []string{"a", ""}), {Key: "empty"},
			},
			Events: []sdktrace.Event{{
				Name: "event", Time: at(3), Attributes: []attribute.KeyValue{attribute.Int("n", 1)}, DroppedAttributeCount: 4,
			}},
			Links: []sdktrace.Link{
				{SpanContext: span(9, true), Attributes: []attribute.KeyValue{attribute.Int("n", 2)}, DroppedAttributeCount: 5},
				{SpanContext: span(8, false)},
			},
			Status:            sdktrace.Status{Code: codes.Error, Description: "why"},
			DroppedAttributes: 6, DroppedEvents: 7, DroppedLinks: 8,
		},
		{Name: "child", SpanContext: span(3, false), SpanKind: trace.SpanKindClient, InstrumentationScope: two,
			Parent: span(2, false), Status: sdktrace.Status{Code: codes.Ok}},
		{Name: "root", SpanContext: span(4, false), SpanKind: trace.SpanKindInternal, InstrumentationScope: one},
		{Name: "sends", SpanContext: span(5, false), SpanKind: trace.SpanKindProducer, InstrumentationScope: two},
		{Name: "gets", SpanContext: span(6, false), SpanKind: trace.SpanKindConsumer, InstrumentationScope: two},
	}.Snapshots()
	if err := export(t, spans, &metricdata.ResourceMetrics{}); err != nil {
		t.Fatal(err)
	}
	const id = `trace_id: "\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\001" trace_state: "k=v"
		span_id: "\000\000\000\000\000\000\000`
	check(t, (<-requests).body, &tracepb.TracesData{}, &tracepb.TracesData{}, `
	resource_spans { schema_url: "https://schema/1"
	  resource { attributes { key: "service.name" value { string_value: "ticket" } } }
	  scope_spans { schema_url: "https://schema/2"
	    scope { name: "one" version: "v1" attributes { key: "own" value { bool_value: true } } }
	    spans { `+id+`\002" parent_span_id: "\000\000\000\000\000\000\000\001" flags: 0x301 name: "all �" kind: SPAN_KIND_SERVER
	      start_time_unix_nano: 1000000001 end_time_unix_nano: 2000000001
	      attributes { key: "bool" value { bool_value: true } }
	      attributes { key: "int" value { int_value: -5 } }
	      attributes { key: "float" value { double_value: 1.5 } }
	      attributes { key: "text" value { string_value: "a �" } }
	      attributes { key: "ints" value { string_value: "[1,-2]" } }
	      attributes { key: "texts" value { array_value { values { string_value: "a" } values { string_value: "" } } } }
	      attributes { key: "empty" value { } }
	      events { name: "event" time_unix_nano: 3000000001 attributes { key: "n" value { int_value: 1 } }
	        dropped_attributes_count: 4 }
	      links { `+id+`\t" flags: 0x301 attributes { key: "n" value { int_value: 2 } } dropped_attributes_count: 5 }
	      links { `+id+`\010" flags: 0x101 }
	      status { code: STATUS_CODE_ERROR message: "why" }
	      dropped_attributes_count: 6 dropped_events_count: 7 dropped_links_count: 8
	    }
	    spans { `+id+`\004" flags: 0x101 name: "root" kind: SPAN_KIND_INTERNAL status { } }
	  }
	  scope_spans { scope { name: "two" }
	    spans { `+id+`\003" parent_span_id: "\000\000\000\000\000\000\000\002" flags: 0x101 name: "child" kind: SPAN_KIND_CLIENT
	      status { code: STATUS_CODE_OK } }
	    spans { `+id+`\005" flags: 0x101 name: "sends" kind: SPAN_KIND_PRODUCER status { } }
	    spans { `+id+`\006" flags: 0x101 name: "gets" kind: SPAN_KIND_CONSUMER status { } }
	  }
	}`)
}

func TestMetrics(t *testing.T) {
	url, requests := startCollector(t)
	setenv(t, map[string]string{"ENDPOINT": url})
	labels := attribute.NewSet(attribute.String("project", "demo"))
	ints := []metricdata.DataPoint[int64]{{Attributes: labels, StartTime: at(1), Time: at(2), Value: 3}}
	floats := []metricdata.DataPoint[float64]{{Attributes: labels, Time: at(2), Value: 1.5}}
	histogram := metricdata.HistogramDataPoint[float64]{
		Attributes: labels, StartTime: at(1), Time: at(2), Count: 3, Bounds: []float64{1, 2}, BucketCounts: []uint64{1, 0, 2},
		Min: metricdata.NewExtrema(.5), Max: metricdata.NewExtrema(9.), Sum: 12, Exemplars: []metricdata.Exemplar[float64]{{
			Time: at(2), Value: 9, TraceID: []byte("trace"), SpanID: []byte("span"),
			FilteredAttributes: []attribute.KeyValue{attribute.Bool("left", true)},
		}},
	}
	all := []metricdata.Aggregation{
		metricdata.Gauge[int64]{DataPoints: ints},
		metricdata.Gauge[float64]{DataPoints: floats},
		metricdata.Sum[int64]{
			DataPoints: []metricdata.DataPoint[int64]{{
				Time: at(2), Value: -3, Exemplars: []metricdata.Exemplar[int64]{{Time: at(2), Value: -3}},
			}}, Temporality: metricdata.CumulativeTemporality,
		},
		metricdata.Sum[float64]{DataPoints: floats, Temporality: metricdata.DeltaTemporality, IsMonotonic: true},
		metricdata.Histogram[float64]{
			DataPoints: []metricdata.HistogramDataPoint[float64]{histogram}, Temporality: metricdata.CumulativeTemporality,
		},
		metricdata.Histogram[int64]{
			DataPoints: []metricdata.HistogramDataPoint[int64]{{Count: 1, Sum: 7}}, Temporality: metricdata.DeltaTemporality,
		},
	}
	given := &metricdata.ResourceMetrics{
		Resource: resource.NewWithAttributes("https://schema/1", attribute.String("service.name", "ticket")),
		ScopeMetrics: []metricdata.ScopeMetrics{{Scope: instrumentation.Scope{
			Name: "one", Version: "v1", SchemaURL: "https://schema/2", Attributes: attribute.NewSet(attribute.Bool("own", true)),
		}}},
	}
	for i, data := range all {
		given.ScopeMetrics[0].Metrics = append(given.ScopeMetrics[0].Metrics, metricdata.Metrics{
			Name: string(rune('a' + i)), Unit: "s", Description: "What.", Data: data,
		})
	}
	if err := export(t, nil, given); err != nil {
		t.Fatal(err)
	}
	const (
		head  = `unit: "s" description: "What."`
		label = `attributes { key: "project" value { string_value: "demo" } }`
		start = `start_time_unix_nano: 1000000001 `
		now   = `time_unix_nano: 2000000001`
		span  = `exemplars { ` + now + ` trace_id: "trace" span_id: "span" as_double: 9
	      filtered_attributes { key: "left" value { bool_value: true } } }`
	)
	check(t, (<-requests).body, &metricspb.MetricsData{}, &metricspb.MetricsData{}, `
	resource_metrics { schema_url: "https://schema/1"
	  resource { attributes { key: "service.name" value { string_value: "ticket" } } }
	  scope_metrics { schema_url: "https://schema/2"
	    scope { name: "one" version: "v1" attributes { key: "own" value { bool_value: true } } }
	    metrics { name: "a" `+head+` gauge { data_points { `+label+start+now+` as_int: 3 } } }
	    metrics { name: "b" `+head+` gauge { data_points { `+label+now+` as_double: 1.5 } } }
	    metrics { name: "c" `+head+` sum { aggregation_temporality: AGGREGATION_TEMPORALITY_CUMULATIVE
	      data_points { `+now+` as_int: -3 exemplars { `+now+` as_int: -3 } } } }
	    metrics { name: "d" `+head+` sum { aggregation_temporality: AGGREGATION_TEMPORALITY_DELTA is_monotonic: true
	      data_points { `+label+now+` as_double: 1.5 } } }
	    metrics { name: "e" `+head+` histogram { aggregation_temporality: AGGREGATION_TEMPORALITY_CUMULATIVE
	      data_points { `+label+start+now+` count: 3 sum: 12 min: 0.5 max: 9
	        explicit_bounds: [1, 2] bucket_counts: [1, 0, 2] `+span+` } } }
	    metrics { name: "f" `+head+` histogram { aggregation_temporality: AGGREGATION_TEMPORALITY_DELTA
	      data_points { count: 1 sum: 7 } } }
	  }
	}`)
}

// TestVariables: the variables say where a signal goes, and with which headers. HOST is the collector.
func TestVariables(t *testing.T) {
	for name, tt := range map[string]struct {
		variables       map[string]string
		traces, metrics string
		header          map[string]string // of the request with spans
	}{
		"a base": {map[string]string{"ENDPOINT": "HOST"}, "/v1/traces", "/v1/metrics", map[string]string{
			"Content-Type": "application/x-protobuf", "User-Agent": "matchmaker-OTLP-Exporter-Go/v1.2.3", "Content-Encoding": "",
		}},
		"a base with a path": {map[string]string{"ENDPOINT": " HOST/otel/ "}, "/otel/v1/traces", "/otel/v1/metrics", nil},
		"one for each signal": {map[string]string{
			"ENDPOINT": "http://127.0.0.1:1", "TRACES_ENDPOINT": "HOST/spans/?key=a%20b", "METRICS_ENDPOINT": "HOST",
			"INSECURE": "false",
		}, "/spans/?key=a%20b", "/", nil},
		"headers": {map[string]string{
			"ENDPOINT": "HOST", "HEADERS": "authorization=Bearer%20a%3Db, x-team = red ,", "METRICS_HEADERS": "x-team=blue",
		}, "/v1/traces", "/v1/metrics", map[string]string{"Authorization": "Bearer a=b", "X-Team": "red"}},
		"own headers": {map[string]string{
			"ENDPOINT": "HOST", "HEADERS": "x-team=red,x-other=1",
			"TRACES_HEADERS": "x-team=blue,user-agent=me,content-type=text/plain",
		}, "/v1/traces", "/v1/metrics", map[string]string{
			"X-Team": "blue", "X-Other": "", "User-Agent": "me", "Content-Type": "application/x-protobuf",
		}},
		"compression": {map[string]string{"ENDPOINT": "HOST", "COMPRESSION": "gzip", "METRICS_COMPRESSION": "none"},
			"/v1/traces", "/v1/metrics", map[string]string{"Content-Encoding": "gzip"}},
	} {
		t.Run(name, func(t *testing.T) {
			url, requests := startCollector(t)
			for name, value := range tt.variables {
				tt.variables[name] = strings.ReplaceAll(value, "HOST", url)
			}
			setenv(t, tt.variables)
			if err := exportOne(t); err != nil {
				t.Fatal(err)
			}
			traces, metrics := <-requests, <-requests
			if traces.url != tt.traces || metrics.url != tt.metrics {
				t.Errorf("spans went to %s, metrics to %s", traces.url, metrics.url)
			}
			for name, want := range tt.header {
				if got := traces.header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if name == "compression" {
				small, err := gzip.NewReader(bytes.NewReader(traces.body))
				if err != nil {
					t.Fatal(err)
				}
				if traces.body, err = io.ReadAll(small); err != nil {
					t.Fatal(err)
				}
				if metrics.header.Get("Content-Encoding") != "" {
					t.Error("metrics are compressed too")
				}
			}
			if !bytes.Contains(traces.body, []byte("a span")) {
				t.Errorf("got %q", traces.body)
			}
		})
	}
}

func TestWrongVariables(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	const (
		https   = "https://127.0.0.1:1"
		prefix  = "OTEL_EXPORTER_OTLP_"
		headers = "HEADERS must be name=value,name=value with percent-encoded values"
	)
	for want, variables := range map[string]map[string]string{
		headers:              {"HEADERS": "a=b,secret"},
		"TRACES_" + headers:  {"TRACES_HEADERS": "key=secret%"},
		"METRICS_" + headers: {"METRICS_HEADERS": "=secret"},
		`COMPRESSION is "zstd": only gzip and none are supported`:     {"COMPRESSION": "zstd"},
		`TIMEOUT is "10s": a number of milliseconds is needed`:        {"TIMEOUT": "10s"},
		`METRICS_TIMEOUT is "-1": a number of milliseconds is needed`: {"METRICS_TIMEOUT": "-1"},
		`METRICS_TEMPORALITY_PREFERENCE is "x": only cumulative, delta and lowmemory are supported`: {
			"METRICS_TEMPORALITY_PREFERENCE": "x",
		},
		`METRICS_DEFAULT_HISTOGRAM_AGGREGATION is "x": only explicit_bucket_histogram is supported`: {
			"METRICS_DEFAULT_HISTOGRAM_AGGREGATION": "x",
		},
		"CERTIFICATE: open /nowhere: no such file or directory": {"ENDPOINT": https, "CERTIFICATE": "/nowhere"},
		"CERTIFICATE: " + file + " holds no certificate":        {"ENDPOINT": https, "CERTIFICATE": file},
		"CLIENT_CERTIFICATE, " + prefix + "CLIENT_KEY: open : no such file or directory": {
			"ENDPOINT": https, "CLIENT_CERTIFICATE": file,
		},
		"TRACES_CLIENT_CERTIFICATE, " + prefix + "CLIENT_KEY: tls: failed to find any PEM data in certificate input": {
			"ENDPOINT": https, "TRACES_CLIENT_CERTIFICATE": file, "CLIENT_KEY": file,
		},
	} {
		setenv(t, variables)
		if err := exportOne(t); err == nil || err.Error() != prefix+want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	for _, wrong := range []string{"collector:4318", "ftp://collector", "http:///path", "http://%"} {
		setenv(t, map[string]string{"TRACES_ENDPOINT": wrong})
		const want = prefix + "TRACES_ENDPOINT must be a URL such as http://localhost:4318"
		if err := exportOne(t); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestErrorsTellNoSecret: a URL and headers may have a key in them.
func TestErrorsTellNoSecret(t *testing.T) {
	for header, want := range map[string]string{"": "connection refused", "x=secret%0A": "invalid header field value"} {
		setenv(t, map[string]string{
			"TRACES_ENDPOINT": "http://me:secret@127.0.0.1:1/path?key=secret", "HEADERS": header,
		})
		err := exportOne(t)
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "http://127.0.0.1:1/path: ") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestTLS: the collector has a certificate of its own authority, and asks for ours.
func TestTLS(t *testing.T) {
	authority, later := conformance.NewAuthority(t), time.Now().Add(time.Hour)
	cert, key := filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	authority.Client(t, cert, key, later)
	got := make(chan request, 2)
	collector := httptest.NewUnstartedServer(handler(got))
	collector.TLS = &tls.Config{
		Certificates: []tls.Certificate{authority.Server(t, later)}, ClientCAs: authority.Pool(),
		ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	}
	collector.EnableHTTP2 = true
	collector.StartTLS()
	t.Cleanup(collector.Close)
	whole := map[string]string{
		"ENDPOINT": collector.URL, "CERTIFICATE": authority.File, "CLIENT_CERTIFICATE": cert, "CLIENT_KEY": key,
		"INSECURE": "true", // is for URLs without a scheme
	}
	setenv(t, whole)
	if err := exportOne(t); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"/v1/traces", "/v1/metrics"} {
		if r := <-got; r.url != want || r.protocol != "HTTP/2.0" {
			t.Errorf("got %v", r)
		}
	}
	setenv(t, map[string]string{"ENDPOINT": collector.URL, "CLIENT_CERTIFICATE": cert, "CLIENT_KEY": key})
	if err := exportOne(t); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("got %v", err)
	}
	setenv(t, map[string]string{"ENDPOINT": collector.URL, "CERTIFICATE": authority.File})
	if exportOne(t) == nil || len(got) > 0 { // the error may be that the connection was closed
		t.Error("the collector takes what comes without a certificate")
	}
	whole["ENDPOINT"] = strings.Replace(collector.URL, "https", "http", 1)
	setenv(t, whole)
	if err := exportOne(t); err == nil || !strings.Contains(err.Error(), "use https://") {
		t.Errorf("got %v", err)
	}
}

// TestRedirectsAreRefused: what is sent, and its headers, are for the collector that the operator names.
func TestRedirectsAreRefused(t *testing.T) {
	other, requests := startCollector(t)
	first := httptest.NewServer(http.RedirectHandler(other, http.StatusTemporaryRedirect))
	t.Cleanup(first.Close)
	setenv(t, map[string]string{"ENDPOINT": first.URL})
	if err := exportOne(t); err == nil || !strings.Contains(err.Error(), "307 Temporary Redirect") {
		t.Errorf("got %v", err)
	}
	if len(requests) > 0 {
		t.Errorf("another host got %v", <-requests)
	}
}

func TestShutdown(t *testing.T) {
	url, requests := startCollector(t)
	setenv(t, map[string]string{"ENDPOINT": url})
	s, err := otlp.NewSpanExporter("")
	if err != nil {
		t.Fatal(err)
	}
	m, err := otlp.NewMetricExporter("")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(m.ForceFlush(t.Context()), s.Shutdown(t.Context()), m.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
	if s.ExportSpans(t.Context(), tracetest.SpanStubs{{}}.Snapshots()) == nil ||
		m.Export(t.Context(), &metricdata.ResourceMetrics{}) == nil {
		t.Error("it goes on after its shutdown")
	}
	if len(requests) > 0 {
		t.Errorf("the collector got %v", <-requests)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if s.Shutdown(ended) == nil || m.Shutdown(ended) == nil || m.ForceFlush(ended) == nil {
		t.Error("the end of the context is no error")
	}
}

// TestPreferences: the variables of metrics say what the SDK makes of measurements.
func TestPreferences(t *testing.T) {
	const cumulative, delta = metricdata.CumulativeTemporality, metricdata.DeltaTemporality
	for preference, want := range map[string][3]metricdata.Temporality{ // of counters, observable and up-down counters
		"": {cumulative, cumulative, cumulative}, "cumulative": {cumulative, cumulative, cumulative},
		"Delta": {delta, delta, cumulative}, "lowmemory": {delta, cumulative, cumulative},
	} {
		setenv(t, map[string]string{"METRICS_TEMPORALITY_PREFERENCE": preference})
		m, err := otlp.NewMetricExporter("")
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]metricdata.Temporality{m.Temporality(sdkmetric.InstrumentKindCounter),
			m.Temporality(sdkmetric.InstrumentKindObservableCounter), m.Temporality(sdkmetric.InstrumentKindUpDownCounter),
		}; got != want {
			t.Errorf("%q: got %v, want %v", preference, got, want)
		}
	}
}

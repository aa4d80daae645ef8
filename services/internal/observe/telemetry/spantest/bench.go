package spantest

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"matchmaker.dev/services/internal/observe/telemetry/export"
)

// Modes are the ways in which a process may be observed, the first of which is none.
var Modes = []string{"off", "metrics", "0%", "1%", "100%"}

// ratios are how many of a hundred tickets are sampled, on top of the metrics.
var ratios = map[string]string{"0%": "0", "1%": "0.01", "100%": "1"}

// OpenModes opens telemetry in each of the Ways, as the environment of a process does. What it sends is taken by a
// collector that does nothing with it.
func OpenModes(b *testing.B) map[string]*export.Telemetry {
	b.Helper()
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_,
			_ = io.Copy(io.Discard, r.Body)
	}))
	b.Cleanup(collector.Close)
	all := map[string]*export.Telemetry{}
	b.Setenv("OTEL_METRICS_EXPORTER", "none")
	for _, way := range Modes {
		o := export.Options{Service: "matchmaker", Instance: way, Log: slog.New(slog.DiscardHandler)}
		if way != "off" {
			o.Settings.Listen = "127.0.0.1:0"
		}
		endpoint := ""
		if ratios[way] != "" {
			endpoint = collector.URL
		}
		b.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
		b.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
		b.Setenv("OTEL_TRACES_SAMPLER_ARG", cmp.Or(ratios[way], "0"))
		t, err := export.Open(b.Context(), o)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { t.Close(context.WithoutCancel(b.Context())) })
		all[way] = t
	}
	return all
}

// Cost is what work cost in each of the Ways, in turns: the machine is not the same from one minute to the next.
type Cost struct{ used map[string][]time.Duration }

// Measure adds the processor time that work takes in this process.
func (c *Cost) Measure(b *testing.B, way string, work func()) {
	b.Helper()
	before := cpu(b)
	work()
	if c.used == nil {
		c.used = map[string][]time.Duration{}
	}
	c.used[way] = append(c.used[way], cpu(b)-before)
}

// Report reports the median of the processor time of one of n tickets without telemetry, and how much it is as a
// multiple of that in the other ways.
func (c *Cost) Report(b *testing.B, n int) {
	b.Helper()
	median := func(way string) float64 {
		used := slices.Sorted(slices.Values(c.used[way]))
		return float64(used[len(used)/2].Nanoseconds()) / float64(n) / 1000
	}
	b.ReportMetric(0, "ns/op") // of all ways together: says nothing
	b.ReportMetric(median("off"), "off-µs/ticket")
	for _, way := range Modes[1:] {
		b.ReportMetric(median(way)/median("off"), way+"/off")
	}
}

// cpu is the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package director_test

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// A project that changes a config without end causes a bounded number of reads and runs a second, and no run of another
// config. The last change counts.
// Promise 9.
func TestChurnOfAConfigCausesFewReadsAndRuns(t *testing.T) {
	const changes, took = 200, time.Second
	w := newWorld(t)
	var quiet, churned atomic.Int64
	var last atomic.Pointer[string]
	w.runner("r", map[string]function{
		"quiet": func(*pb.RunRequest, []string, func(...*pb.Proposal)) error {
			quiet.Add(1)
			return nil
		},
		"churned": func(r *pb.RunRequest, _ []string, _ func(...*pb.Proposal)) error {
			churned.Add(1)
			settings := string(r.GetSettings())
			last.Store(&settings)
			return nil
		},
	})
	w.create(1)
	w.put(project, "quiet", nil)
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("")
	calm := times()
	calm.MaxInterval = time.Hour          // runs come from what happens alone
	var stopped atomic.Pointer[time.Time] // the director's clock, however long the changes take
	w.director("a", calm, steady, usual, func(o *director.Options) {
		o.Meter = telemetry.NewMeter(meter, 0, slog.New(slog.DiscardHandler))
		o.Now = func() time.Time {
			if at := stopped.Load(); at != nil {
				return *at
			}
			return time.Now()
		}
	})
	w.until("the quiet config runs", func() bool { return quiet.Load() > 0 })

	began, before := time.Now(), quiet.Load()
	stopped.Store(&began)
	for i := range changes {
		if i%2 == 1 {
			if _, err := w.store.DeleteConfig(t.Context(), project, "churned", state.AnyRevision, ""); err != nil {
				t.Fatal(err)
			}
			w.poke(project, &pb.Poke{Configs: true, Deleted: "churned"})
			continue
		}
		w.put(project, "churned", &pb.Config{Settings: fmt.Appendf(nil, `{"change":%d}`, i)})
	}
	w.put(project, "churned", &pb.Config{Settings: []byte(`"last"`)})
	later := began.Add(took)
	stopped.Store(&later)
	w.poke(project, &pb.Poke{Configs: true}) // the director looks at its clock
	w.until("the last change counts", func() bool { s := last.Load(); return s != nil && *s == `"last"` })

	// 20 reads a second and 4 at once, a leader's first read and a look once a second.
	const most = int64(took/(50*time.Millisecond)) + 4 + 2
	reads := sum(t, reader, "matchmaker.configs.reads")
	if reads > most || reads < 2 {
		t.Errorf("%d changes in %v caused %d reads, want at most %d", changes, took, reads, most)
	}
	if n := churned.Load(); n > most {
		t.Errorf("%d changes in %v caused %d runs of the config, want at most %d", changes, took, n, most)
	}
	if n := quiet.Load() - before; n > 5 { // a run that no runner took in time is asked for again
		t.Errorf("%d changes of a config caused %d runs of another one", changes, n)
	}
}

// sum is the sum of a counter.
func sum(t *testing.T, reader sdkmetric.Reader, name string) (n int64) {
	t.Helper()
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	for _, scope := range got.ScopeMetrics {
		for _, m := range scope.Metrics {
			if points, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == name {
				for _, point := range points.DataPoints {
					n += point.Value
				}
			}
		}
	}
	return n
}

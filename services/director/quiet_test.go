package director_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"testing"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// A project in which nothing is stored that becomes due costs one read a second, together with all others. Tickets are
// found in it although no poke came.
func TestQuietProjectsCostOneReadASecond(t *testing.T) {
	t.Parallel()
	const projects = 30
	w, own := newOwnWorld(t)
	w.runner("r", map[string]function{"c": pairs})
	w.put(project, "c", nil)
	for i := 1; i < projects; i++ {
		if _, _, err := w.store.PutConfig(t.Context(), fmt.Sprintf("quiet-%d", i), &pb.Config{Id: "c", Function: "c"},
			state.AnyRevision); err != nil {
			t.Fatal(err)
		}
	}
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("")
	w.director("a", times(), steady, usual, func(o *director.Options) {
		o.Meter = telemetry.NewMeter(meter, 0, slog.New(slog.DiscardHandler))
	})
	w.until("all projects are quiet", func() bool { return gauge(t, reader, "matchmaker.leading.quiet") == projects })

	calls := own.calls()
	const rounds = 3
	look := func() {
		before := calls("get")
		w.until("all were looked at some more times", func() bool { return calls("get")-before >= rounds*projects })
	}
	look() // what began before they were quiet ends
	counts, ranges := calls("zcount"), calls("xrange")
	look()
	if n := calls("zcount") - counts; n >= rounds*projects {
		t.Errorf("%d counts of what is due, while %d quiet projects were looked at %d times", n, projects, rounds)
	}
	if n := calls("xrange") - ranges; n >= projects {
		t.Errorf("%d reads of the history, while %d quiet projects were looked at %d times", n, projects, rounds)
	}

	creator := w.store.Creator(func(context.Context, string, uint64, ...string) {}) // every poke is lost
	for _, id := range []string{"a", "b"} {
		if err := creator.Create(t.Context(), project, &pb.Ticket{Id: id, Owner: id}); err != nil {
			t.Fatal(err)
		}
	}
	w.results("a", "b")
	if n := gauge(t, reader, "matchmaker.leading.quiet"); n >= projects {
		t.Errorf("%v of %d projects are quiet while one keeps results", n, projects)
	}
}

// A new project is led at once. The leases of the others are not renewed for it.
func TestNewProjectsCostTheOthersNothing(t *testing.T) {
	t.Parallel()
	const projects, more = 40, 10
	w, own := newOwnWorld(t)
	name := func(i int) string { return fmt.Sprintf("project-%d", i) }
	config := func(i int) {
		if _, _, err := w.store.PutConfig(t.Context(), name(i), &pb.Config{Id: "c", Function: "c"},
			state.AnyRevision); err != nil {
			t.Fatal(err)
		}
		w.poke(name(i), &pb.Poke{Configs: true})
	}
	for i := range projects {
		config(i)
	}
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("")
	seldom := times()
	seldom.Lease = time.Hour // leases are renewed each quarter of it
	w.director("a", seldom, usual, func(o *director.Options) {
		o.Meter = telemetry.NewMeter(meter, 0, slog.New(slog.DiscardHandler))
	})
	led := func(n int) {
		t.Helper()
		w.until(fmt.Sprintf("%d projects are led", n), func() bool {
			return gauge(t, reader, "matchmaker.leading") == float64(n)
		})
	}
	led(projects)
	calls := own.calls()
	before := calls("evalsha")
	for i := range more {
		config(projects + i)
		led(projects + i + 1)
	}
	if n := calls("evalsha") - before; n >= more*projects {
		t.Errorf("%d new projects beside %d cost %d scripts", more, projects, n)
	}
}

// calls tells how often a command of Redis was called.
func (s *servers) calls() func(command string) int {
	conn, err := new(net.Dialer).DialContext(s.Context(), "tcp", s.redis.Addr())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = conn.Close() })
	in := bufio.NewReader(conn)
	return func(command string) int {
		s.Helper()
		if _, err := io.WriteString(conn, "INFO commandstats\r\n"); err != nil {
			s.Fatal(err)
		}
		size := 0
		if _, err := fmt.Fscanf(in, "$%d\r\n", &size); err != nil {
			s.Fatal(err)
		}
		info := make([]byte, size+len("\r\n"))
		if _, err := io.ReadFull(in, info); err != nil {
			s.Fatal(err)
		}
		found := regexp.MustCompile(`cmdstat_` + command + `:calls=(\d+)`).FindSubmatch(info)
		if found == nil {
			return 0
		}
		n, err := strconv.Atoi(string(found[1]))
		if err != nil {
			s.Fatal(err)
		}
		return n
	}
}

// gauge is the value of a gauge.
func gauge(t *testing.T, reader sdkmetric.Reader, name string) (value float64) {
	t.Helper()
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	for _, scope := range got.ScopeMetrics {
		for _, m := range scope.Metrics {
			if points, ok := m.Data.(metricdata.Gauge[float64]); ok && m.Name == name {
				for _, point := range points.DataPoints {
					value += point.Value
				}
			}
		}
	}
	return value
}

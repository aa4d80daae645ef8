package observe_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director/observe"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/state"
)

// points returns a histogram's points, each with its labels but the project, its count and its sum.
func points(t *testing.T, reader sdkmetric.Reader, name string) (all []string) {
	t.Helper()
	var got metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	for _, m := range got.ScopeMetrics[0].Metrics {
		if m.Name != name {
			continue
		}
		for _, point := range m.Data.(metricdata.Histogram[float64]).DataPoints {
			var labels []string
			for _, label := range point.Attributes.ToSlice() {
				if label.Key != attribute.Key("project") {
					labels = append(labels, label.Value.AsString())
				}
			}
			all = append(all, fmt.Sprintf("%s %d %v", strings.Join(labels, "/"), point.Count, point.Sum))
		}
	}
	slices.Sort(all)
	return all
}

// Labels are in the order of their names: kind, measure, party, queue. The region is none: players may invent it.
func TestMeasuresAreRecordedOfConfigsWithAReport(t *testing.T) {
	for name, asked := range map[string]*pb.Report{"with": {Attributes: []string{"skill"}}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			reader := sdkmetric.NewManualReader()
			meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("")
			o := observe.New(telemetry.NewMeter(meter, 0, slog.New(slog.DiscardHandler)), telemetry.Tracer{})
			p := o.Project("demo", 1, slog.New(slog.DiscardHandler))
			defer p.Close()
			s := p.Segment(&pb.Config{Id: "c", Report: asked}, nil, nil)
			now := time.UnixMilli(1_893_456_000_000)
			claim := &state.Claim{
				Match: &pb.Match{Proposal: &pb.Proposal{Players: 8, Hosting: &pb.HostingOverride{Region: "eu"}}},
				Queue: "q", Tickets: []string{state.NewID(now.Add(-2 * time.Second)), state.NewID(now.Add(-4 * time.Second))},
				Measures: []*pb.EventMeasure{{Name: "fun", Value: 0.5}},
			}
			if asked != nil {
				claim.Parties = []uint32{1, 7}
				claim.Attributes = []*pb.EventAttribute{{Name: "skill", Spread: 40, Gap: new(10.0)}}
			}
			failed := &state.Claim{Match: &pb.Match{Proposal: &pb.Proposal{Error: "PoolTimeout"}},
				Measures: claim.Measures, Tickets: claim.Tickets}
			refused := &state.Claim{Match: claim.Match, Measures: claim.Measures, Tickets: claim.Tickets, Refusal: "config"}
			if err := p.RecordClaims(t.Context(), now, now, func(yield func(*observe.Segment, *state.Claim) bool) {
				_ = yield(s, claim) && yield(s, failed) && yield(s, refused)
			}, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			want := map[string][]string{"matchmaker.match.measure": {"measure/fun/unknown/q 1 0.5"}}
			if asked != nil {
				want = map[string][]string{
					"matchmaker.match.measure": {"gap/skill/6+/q 1 10", "measure/fun/6+/q 1 0.5", "spread/skill/6+/q 1 40"},
					"matchmaker.match.wait":    {"1/q 1 2", "6+/q 1 4"},
				}
			}
			for _, name := range []string{"matchmaker.match.measure", "matchmaker.match.wait"} {
				if got := points(t, reader, name); !slices.Equal(got, want[name]) {
					t.Errorf("%s: %q, want %q", name, got, want[name])
				}
			}
		})
	}
}

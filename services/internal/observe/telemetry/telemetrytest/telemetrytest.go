// Package telemetrytest reads what instruments measured.
package telemetrytest

import (
	"log/slog"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// Reader reads the instruments of a Meter.
type Reader struct{ reader sdkmetric.Reader }

// New makes a Meter, and the reader of its instruments.
func New() (telemetry.Meter, *Reader) {
	reader := sdkmetric.NewManualReader()
	meter := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)).Meter("")
	return telemetry.NewMeter(meter, 0, slog.New(slog.DiscardHandler)), &Reader{reader}
}

// Value is what an instrument measured with these labels, which are pairs of a key and a value: the sum of all series
// that have them, and of a histogram how many values it has. It is -1 when there is none.
func (r *Reader) Value(t testing.TB, name string, labels ...string) float64 {
	t.Helper()
	return r.read(t, name, func(p metricdata.HistogramDataPoint[float64]) float64 { return float64(p.Count) }, labels)
}

// Sum is Value, but of a histogram the sum of its values.
func (r *Reader) Sum(t testing.TB, name string, labels ...string) float64 {
	t.Helper()
	return r.read(t, name, func(p metricdata.HistogramDataPoint[float64]) float64 { return p.Sum }, labels)
}

func (r *Reader) read(
	t testing.TB, name string, of func(metricdata.HistogramDataPoint[float64]) float64, labels []string,
) float64 {
	t.Helper()
	var got metricdata.ResourceMetrics
	if err := r.reader.Collect(t.Context(), &got); err != nil {
		t.Fatal(err)
	}
	sum, found := 0.0, false
	add := func(of attribute.Set, value float64) {
		for i := 0; i < len(labels); i += 2 {
			if v, ok := of.Value(attribute.Key(labels[i])); !ok || v.AsString() != labels[i+1] {
				return
			}
		}
		sum, found = sum+value, true
	}
	for _, scope := range got.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, of(p))
				}
			default:
				t.Fatalf("%s is a %T", name, data)
			}
		}
	}
	if !found {
		return -1
	}
	return sum
}

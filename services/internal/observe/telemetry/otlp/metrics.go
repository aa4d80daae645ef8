package otlp

import (
	"context"
	"fmt"
	"strings"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
)

type metricExporter struct {
	*client
	temporality sdkmetric.TemporalitySelector
}

// NewMetricExporter makes an exporter of metrics.
func NewMetricExporter(version string) (sdkmetric.Exporter, error) {
	c, err := newClient(metrics, version)
	if err != nil {
		return nil, err
	}
	e := metricExporter{c, sdkmetric.CumulativeTemporalitySelector}
	switch name, value := lookup(metrics, "TEMPORALITY_PREFERENCE"); strings.ToLower(value) {
	case "", "cumulative":
	case "delta":
		e.temporality = sdkmetric.DeltaTemporalitySelector
	case "lowmemory":
		e.temporality = sdkmetric.LowMemoryTemporalitySelector
	default:
		return nil, fmt.Errorf("%s is %q: only cumulative, delta and lowmemory are supported", name, value)
	}
	if name, value := lookup(metrics, "DEFAULT_HISTOGRAM_AGGREGATION"); value != "" &&
		!strings.EqualFold(value, "explicit_bucket_histogram") {
		return nil, fmt.Errorf("%s is %q: only explicit_bucket_histogram is supported", name, value)
	}
	return e, nil
}

// Temporality reports whether values of a kind count from the start or from the last export.
func (e metricExporter) Temporality(kind sdkmetric.InstrumentKind) metricdata.Temporality {
	return e.temporality(kind)
}

// Aggregation tells what becomes of the measurements of a kind.
func (e metricExporter) Aggregation(kind sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(kind)
}

// ForceFlush does nothing: nothing waits.
func (e metricExporter) ForceFlush(ctx context.Context) error { return ctx.Err() }

// Export sends metrics.
func (e metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	return e.send(ctx, &collectorpb.ExportMetricsServiceRequest{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: resourceOf(m.Resource), SchemaUrl: m.Resource.SchemaURL(), ScopeMetrics: each(m.ScopeMetrics, scopeMetrics),
	}}})
}

func scopeMetrics(s metricdata.ScopeMetrics) *metricspb.ScopeMetrics {
	return &metricspb.ScopeMetrics{
		Scope: scopeOf(s.Scope), SchemaUrl: s.Scope.SchemaURL, Metrics: each(s.Metrics, metricOf),
	}
}

// metricOf leaves out summaries and exponential histograms, which this SDK does not make.
func metricOf(m metricdata.Metrics) *metricspb.Metric {
	out := &metricspb.Metric{Name: m.Name, Description: m.Description, Unit: m.Unit}
	switch data := m.Data.(type) {
	case metricdata.Gauge[int64]:
		out.Data = gauge(data)
	case metricdata.Gauge[float64]:
		out.Data = gauge(data)
	case metricdata.Sum[int64]:
		out.Data = sum(data)
	case metricdata.Sum[float64]:
		out.Data = sum(data)
	case metricdata.Histogram[int64]:
		out.Data = histogram(data)
	case metricdata.Histogram[float64]:
		out.Data = histogram(data)
	}
	return out
}

func gauge[N int64 | float64](g metricdata.Gauge[N]) *metricspb.Metric_Gauge {
	return &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: each(g.DataPoints, point)}}
}

func sum[N int64 | float64](s metricdata.Sum[N]) *metricspb.Metric_Sum {
	return &metricspb.Metric_Sum{Sum: &metricspb.Sum{
		AggregationTemporality: temporality(s.Temporality), IsMonotonic: s.IsMonotonic, DataPoints: each(s.DataPoints, point),
	}}
}

func histogram[N int64 | float64](h metricdata.Histogram[N]) *metricspb.Metric_Histogram {
	return &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
		AggregationTemporality: temporality(h.Temporality),
		DataPoints: each(h.DataPoints, func(p metricdata.HistogramDataPoint[N]) *metricspb.HistogramDataPoint {
			return &metricspb.HistogramDataPoint{
				Attributes: setOf(p.Attributes), StartTimeUnixNano: nanoseconds(p.StartTime), TimeUnixNano: nanoseconds(p.Time),
				Count: p.Count, Sum: new(float64(p.Sum)), Min: extreme(p.Min), Max: extreme(p.Max),
				BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds, Exemplars: each(p.Exemplars, exemplar),
			}
		}),
	}}
}

// extreme returns the least or the greatest value of a histogram, nil when that is not known.
func extreme[N int64 | float64](e metricdata.Extrema[N]) *float64 {
	v, known := e.Value()
	if !known {
		return nil
	}
	return new(float64(v))
}

func point[N int64 | float64](p metricdata.DataPoint[N]) *metricspb.NumberDataPoint {
	out := &metricspb.NumberDataPoint{
		Attributes: setOf(p.Attributes), StartTimeUnixNano: nanoseconds(p.StartTime), TimeUnixNano: nanoseconds(p.Time),
		Exemplars: each(p.Exemplars, exemplar),
	}
	switch v := any(p.Value).(type) {
	case int64:
		out.Value = &metricspb.NumberDataPoint_AsInt{AsInt: v}
	case float64:
		out.Value = &metricspb.NumberDataPoint_AsDouble{AsDouble: v}
	}
	return out
}

func exemplar[N int64 | float64](e metricdata.Exemplar[N]) *metricspb.Exemplar {
	out := &metricspb.Exemplar{
		TraceId: e.TraceID, SpanId: e.SpanID, TimeUnixNano: nanoseconds(e.Time),
		FilteredAttributes: each(e.FilteredAttributes, keyValue),
	}
	switch v := any(e.Value).(type) {
	case int64:
		out.Value = &metricspb.Exemplar_AsInt{AsInt: v}
	case float64:
		out.Value = &metricspb.Exemplar_AsDouble{AsDouble: v}
	}
	return out
}

// temporality returns the message's number, which is not the SDK's.
func temporality(t metricdata.Temporality) metricspb.AggregationTemporality {
	if t == metricdata.DeltaTemporality {
		return metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	return metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
}

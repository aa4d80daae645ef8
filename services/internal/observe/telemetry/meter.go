package telemetry

import (
	"cmp"
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"matchmaker.dev/services/internal/platform/quota"
)

// Meter makes instruments. The zero Meter's record nothing and cost nothing.
//
// Names have dots, as OpenTelemetry's do; Prometheus replaces them by underscores and appends the unit and _total.
type Meter struct {
	meter  metric.Meter
	values int
	log    *slog.Logger
}

// NewMeter returns a Meter whose Labels have at most this many combinations of values, 200 if values is 0.
func NewMeter(m metric.Meter, values int, log *slog.Logger) Meter {
	return Meter{meter: m, values: values, log: log}
}

func (m Meter) orNoop() metric.Meter {
	if m.meter == nil {
		return noop.Meter{}
	}
	return m.meter
}

// logError logs that the SDK refuses an instrument, which then records nothing.
func (m Meter) logError(name string, err error) {
	if err != nil && m.log != nil {
		m.log.Error("telemetry: an instrument cannot be made", "name", name, "error", err)
	}
}

// Counter counts things, in a unit such as {ticket}.
func (m Meter) Counter(name, unit, description string) metric.Int64Counter {
	c, err := m.orNoop().Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.logError(name, err)
	return c
}

// Seconds counts time.
func (m Meter) Seconds(name, description string) metric.Float64Counter {
	c, err := m.orNoop().Float64Counter(name, metric.WithUnit("s"), metric.WithDescription(description))
	m.logError(name, err)
	return c
}

// UpDownCounter is a number that goes up and down.
func (m Meter) UpDownCounter(name, unit, description string) metric.Int64UpDownCounter {
	c, err := m.orNoop().Int64UpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.logError(name, err)
	return c
}

// Gauge is a number whose last value counts.
func (m Meter) Gauge(name, unit, description string) metric.Int64Gauge {
	g, err := m.orNoop().Int64Gauge(name, metric.WithUnit(unit), metric.WithDescription(description))
	m.logError(name, err)
	return g
}

// Histogram is a distribution with the bounds of its buckets.
func (m Meter) Histogram(name, unit, description string, bounds ...float64) metric.Float64Histogram {
	h, err := m.orNoop().Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(bounds...))
	m.logError(name, err)
	return h
}

// Bounds of histograms of time, in seconds: of work, and of how long players wait.
var (
	workBounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	waitBounds = []float64{.025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800}
)

// WorkSeconds is a histogram of how long work takes: half a millisecond to half a minute.
func (m Meter) WorkSeconds(name, description string) metric.Float64Histogram {
	return m.Histogram(name, "s", description, workBounds...)
}

// WaitSeconds is a histogram of how long players wait: 25 ms to half an hour.
func (m Meter) WaitSeconds(name, description string) metric.Float64Histogram {
	return m.Histogram(name, "s", description, waitBounds...)
}

// Observe records a value of an ObservableGauge.
type Observe func(value float64, labels ...attribute.KeyValue)

// ObservableGauge is a gauge whose values are read when metrics are collected. look must return soon, and ends with
// ctx.
func (m Meter) ObservableGauge(name, unit, description string, look func(ctx context.Context, observe Observe)) {
	_, err := m.orNoop().Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(description),
		metric.WithFloat64Callback(func(ctx context.Context, o metric.Float64Observer) error {
			look(ctx, func(value float64, labels ...attribute.KeyValue) { o.Observe(value, metric.WithAttributes(labels...)) })
			return nil
		}))
	m.logError(name, err)
}

// Usage looks at how much of something is used, and at the most, for an ObservableGauge.
func Usage(of func() (used, limit int)) func(context.Context, Observe) {
	return func(_ context.Context, observe Observe) {
		used, limit := of()
		observe(float64(used), attribute.String("kind", "used"))
		observe(float64(limit), attribute.String("kind", "limit"))
	}
}

// Labels makes labels whose values studios choose, the first of which is the project.
func (m Meter) Labels(keys ...string) *Labels {
	return &Labels{keys: keys, known: map[string]*labelled{}, others: map[string]*labelled{},
		owned: quota.NewShares[string](int64(cmp.Or(m.values, 200)))}
}

// WithLabels makes a measurement option of labels, to be made once and used often.
func WithLabels(labels []attribute.KeyValue, more ...attribute.KeyValue) metric.MeasurementOption {
	all := make([]attribute.KeyValue, 0, len(labels)+len(more))
	return metric.WithAttributeSet(attribute.NewSet(append(append(all, labels...), more...)...))
}

// StartAtZero starts a counter at 0 for some labels, so that its first count is seen as an increase.
func StartAtZero(c metric.Int64Counter, labels Values) {
	for value, l := range labels {
		if value != "" {
			c.Add(context.Background(), 0, l) //nolint:forbidigo // no request is the cause
		}
	}
}

// Values has an option for each of some values of a key, and at "" that for all others.
type Values map[string]metric.MeasurementOption

// LabelsByValue makes an option for each of some values of a key.
func LabelsByValue(labels []attribute.KeyValue, key string, values ...string) Values {
	all := Values{"": WithLabels(labels, attribute.String(key, "other"))}
	for _, v := range values {
		all[v] = WithLabels(labels, attribute.String(key, v))
	}
	return all
}

// Of returns the option of a value. It is never nil: instruments would panic.
func (v Values) Of(value string) metric.MeasurementOption {
	if option, known := v[value]; known {
		return option
	}
	return v[""]
}

// Enabled reports whether anything is recorded. Numbers that are costly to get are not needed otherwise.
func (m Meter) Enabled() bool { return m.meter != nil }

package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/telemetry"
)

// metrics are what the edge counts of requests. Labels are of what this service has: patterns of routes, methods of
// HTTP, statuses, names of limits.
type metrics struct {
	took    metric.Float64Histogram
	limited metric.Int64Counter
	now     func() time.Time

	labels sync.Map // of answer, and of the names of limits, to metric.MeasurementOption
}

// answerKey is what requests are told apart by.
type answerKey struct {
	route, method string
	status        int
}

// rules are the limits that there are, see packages ratelimit and state.
var rules = []string{
	"waiting", "ticket-memory", "player", "project", "reads", "deletes", "configs", "functions", "uploads", "backfill",
	"backfill-memory", "restarts",
}

func newMetrics(m telemetry.Meter, now func() time.Time) *metrics {
	x := &metrics{
		took: m.WorkSeconds("http.server.request.duration",
			"Time from a request to its answer; one that waits for a result on purpose takes as long."),
		limited: m.Counter("matchmaker.limited", "{request}", "Requests that were answered 429, by the limit that they met."),
		now:     now,
	}
	labels := telemetry.LabelsByValue(nil, "rule", rules...)
	telemetry.StartAtZero(x.limited, labels)
	for rule, option := range labels {
		x.labels.Store(rule, option)
	}
	return x
}

var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead,
	http.MethodOptions, http.MethodPatch}

// measure comes behind the tracing and around the error handler, so that it knows the status.
func (m *metrics) measure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := m.now()
		err := next(c)
		a := answerKey{route: c.Path(), method: c.Request().Method, status: c.Response().Status}
		if !slices.Contains(methods, a.method) {
			a.method = "_OTHER"
		}
		m.took.Record(c.Request().Context(), m.now().Sub(start).Seconds(), m.of(a))
		return err
	}
}

func (m *metrics) of(a answerKey) metric.MeasurementOption {
	if known, ok := m.labels.Load(a); ok {
		return known.(metric.MeasurementOption) //nolint:forcetypeassert // nothing else is in the map
	}
	labels := telemetry.WithLabels([]attribute.KeyValue{
		attribute.String("http.route", a.route), attribute.String("http.request.method", a.method),
		attribute.String("http.response.status_code", strconv.Itoa(a.status)),
	})
	m.labels.Store(a, labels)
	return labels
}

// countLimited counts an error that says that a limit was met.
func (m *metrics) countLimited(c echo.Context, err error) {
	f, ok := errors.AsType[*problem.Error](err)
	if !ok || f.Kind != problem.Limited {
		return
	}
	rule := "uploads" // how many may be under way: the one limit without a quota
	if f.Limit != nil {
		rule = f.Limit.Name
	}
	labels, known := m.labels.Load(rule)
	if !known {
		labels = telemetry.WithLabels([]attribute.KeyValue{attribute.String("rule", rule)})
		m.labels.Store(rule, labels)
	}
	option := labels.(metric.MeasurementOption) //nolint:forcetypeassert // nothing else is in the map
	m.limited.Add(c.Request().Context(), 1, option)
}

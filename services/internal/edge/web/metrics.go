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

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
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

// rules are the limits that there are: limits of use and rates (packages ratelimit and state), and limits of a request
// or of a project's total, by the name of their flag where they have one (problem.Error.Exceeds).
var rules = []string{
	"waiting", "results", "ticket-memory", "player-ticket-memory", "player", "project", "reads", "deletes", "configs",
	"functions", "uploads", "renewals", "log-reads", "pinned-uploads", "upload-note",
	"backfill", "backfill-memory", "backfill-changes", "server-changes", "restarts",
	"body", "bodies", "ticket-players", "game-players", "max-attributes", "max-properties", "claimed-properties",
	"name-length", "max-pools", "max-filters", "segments", "attribute-rules", "property-rules", "max-configs",
	"max-config-filters", "max-config-segments", "max-config-bytes", "max-projects", "max-functions", "upload",
	"max-machine-code", "max-modules", "max-modules-total", "max-module-disk", "max-queues", "queue-length", "streams",
	"events", "event-reads", "listwork", "simulations", "simulationwork",
	"parties", "party-joins", "players", "explanations", "explainwork", "max-party-members", "party-size",
	"party-kicks", "max-keys", "tickets.perPlayer", "tickets.running", "acceptance.pause", "max-rated",
}

func newMetrics(m telemetry.Meter, now func() time.Time) *metrics {
	x := &metrics{
		took: m.WorkSeconds("http.server.request.duration",
			"Time from a request to its answer; one that waits for a result on purpose takes as long. A create that waits "+
				"counts until its 201."),
		limited: m.Counter("matchmaker.limited", "{request}",
			"Requests that were refused because they met a limit, by its name: 429, 400, 409, 413 or 503."),
		now: now,
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

// methodOf is the method of a request, and _OTHER for one that HTTP does not have: clients may invent any.
func methodOf(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return "_OTHER"
}

// measure comes behind the tracing and around the error handler, so that it knows the status.
func (m *metrics) measure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := m.now()
		err := next(c)
		a := answerKey{route: c.Path(), method: methodOf(c.Request()), status: c.Response().Status}
		end, begun := c.Get(beginning).(time.Time)
		if !begun {
			end = m.now()
		}
		m.took.Record(c.Request().Context(), end.Sub(start).Seconds(), m.of(a))
		return err
	}
}

// beginning is when Begin was called.
const beginning = "beginning"

// Begin sends the status and the headers of an answer whose body comes later, when there is an event. The metric of
// requests has the time until now.
func Begin(c echo.Context, status int, now time.Time) {
	c.Set(beginning, now)
	c.Response().WriteHeader(status)
	// A client that is gone ends the request's context. A writer that cannot flush sends the headers with the body.
	_ = http.NewResponseController(c.Response()).Flush()
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
	if !ok || f.Kind != problem.Limited && f.Limit == nil {
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

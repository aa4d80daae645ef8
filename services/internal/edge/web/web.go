// Package web is the HTTP layer that all services share: an echo instance whose every answer has a correlation id and
// whose every error is a problem body (RFC 9457, in the shape of the contract), and a strict reader of JSON bodies.
// Only this package turns the kinds of package problem into HTTP.
package web

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// Base is the path below which the tickets, configs and functions API lives.
const Base = "/:project/matchmaking/api/v1"

// The paths of streams of events, of tickets and of parties. Their answers are no JSON. ProjectEvents are answered with
// either.
const (
	TicketEvents  = Base + "/tickets/events"
	PartyEvents   = Base + "/parties/:party/events"
	ProjectEvents = Base + "/events"
)

// Console is the path below which pages for people are. They are answered as HTML.
const Console = "/console"

// Options are the parts of the edge that differ between installations.
type Options struct {
	// Tracer makes a span per request. Nil and the no-op provider cost nothing.
	Tracer trace.TracerProvider
	// Propagator reads the caller's trace context; nil starts a new trace per request.
	Propagator propagation.TextMapPropagator
	// Meter makes the instruments that measure requests; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Now is the clock of the access log; nil is time.Now.
	Now func() time.Time
}

// New returns an echo instance without routes. Handlers return errors: a *problem.Error anywhere in the chain decides
// the status and, unless it is Internal, the detail. Any other error is a 500 whose cause is only logged.
//
// Register middleware with each route and not with a group: echo runs a group's middleware for unknown paths too, which
// turns a 404 into a 401.
func New(log *slog.Logger, o Options) *echo.Echo {
	if o.Now == nil {
		o.Now = time.Now
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.JSONSerializer = serializer{}
	measures := newMetrics(o.Meter, o.Now)
	e.HTTPErrorHandler = func(err error, c echo.Context) {
		writeProblem(log, c, err)
		measures.countLimited(c, err)
	}
	e.OnAddRouteHandler = addHead(e)
	steps := []echo.MiddlewareFunc{correlate}
	if _, off := o.Tracer.(noop.TracerProvider); o.Tracer != nil && !off {
		steps = append(steps, tracing(o.Tracer, o.Propagator))
	}
	steps = append(steps, measures.measure, observe(log, o.Now), forbidCaching, unescapePath, negotiate, limitBody)
	// Echo calls all middleware for each request, to make the request's chain. This one is made once: what it ends with is
	// the handler of the request's route.
	chain := func(c echo.Context) error { return c.Handler()(c) }
	for _, step := range slices.Backward(steps) {
		chain = step(chain)
	}
	e.Use(func(echo.HandlerFunc) echo.HandlerFunc { return chain })
	return e
}

// Steps are the middleware before a route's handler, without what is nil.
func Steps(steps ...echo.MiddlewareFunc) []echo.MiddlewareFunc {
	return slices.Clip(slices.DeleteFunc(steps, func(step echo.MiddlewareFunc) bool { return step == nil }))
}

// addHead gives each GET route one for HEAD, with the same handler. It is answered with the same status and headers;
// net/http leaves out the body.
func addHead(e *echo.Echo) func(string, echo.Route, echo.HandlerFunc, []echo.MiddlewareFunc) {
	return func(_ string, r echo.Route, handler echo.HandlerFunc, middleware []echo.MiddlewareFunc) {
		if r.Method == http.MethodGet {
			e.HEAD(r.Path, handler, middleware...)
		}
	}
}

// forbidCaching keeps answers out of caches, unless a handler says otherwise: they are about one caller and one moment.
func forbidCaching(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		return next(c)
	}
}

// ReadTimeout is how long a request may take to arrive: enough for a function archive of 32 MiB over 5 Mbit/s.
const ReadTimeout = time.Minute

// headerTime is how long its headers may take: a phone that loses packets sends them again after 1, 3 and 7 seconds.
const headerTime = 20 * time.Second

// maxHeader bounds the headers of a request, in bytes. net/http allows 4 KiB more.
const maxHeader = 32 << 10

// Server returns the HTTP server for a handler, with bounds on how long a client may take and how much it may send
// before a handler sees it. It is to serve a Listener.
func Server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       ReadTimeout,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute, // above the 60 s that gateways keep idle connections for
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),

		DisableGeneralOptionsHandler: true, // OPTIONS * is a path that does not exist
	}
}

// unescapePath unescapes the parameters of the path, once. Echo keeps the escapes if the path was sent in another form
// than Go would have written. Parameters never become more segments: routes are found before. No path has an empty one.
func unescapePath(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		for i, name := range c.ParamNames() {
			if name != "*" && c.ParamValues()[i] == "" { // as of /functions//log
				return echo.ErrNotFound
			}
		}
		if c.Request().URL.RawPath == "" {
			return next(c)
		}
		values := slices.Clone(c.ParamValues())
		for i, value := range values {
			if plain, err := url.PathUnescape(value); err == nil {
				values[i] = plain
			}
		}
		c.SetParamValues(values...)
		return next(c)
	}
}

package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// tracing makes one server span per request, named after the route pattern. Neither the raw path nor the query is
// recorded: they name players and tickets.
func tracing(p trace.TracerProvider, prop propagation.TextMapPropagator) echo.MiddlewareFunc {
	tracer, server := p.Tracer("matchmaker.dev/services/internal/edge/web"), trace.WithSpanKind(trace.SpanKindServer)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			req := c.Request()
			ctx := req.Context()
			if prop != nil {
				ctx = prop.Extract(ctx, propagation.HeaderCarrier(req.Header))
			}
			ctx, span := tracer.Start(ctx, methodOf(req)+" "+c.Path(), server)
			defer span.End()
			c.SetRequest(req.WithContext(ctx))
			err := next(c)
			if !span.IsRecording() {
				return err // most are not: they are to cost little
			}
			status := c.Response().Status
			span.SetAttributes(
				attribute.String("http.request.method", methodOf(req)),
				attribute.String("http.route", c.Path()),
				attribute.String("matchmaker.correlation_id", CorrelationID(c)),
				attribute.Int("http.response.status_code", status),
			)
			if status >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, http.StatusText(status))
			}
			return err
		}
	}
}

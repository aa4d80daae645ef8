package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

// observe turns a handler's error or panic into the answer and writes the access log: successful requests at debug,
// refused ones and those whose client hung up at info, 503 at warn, our own failures at error. A line has the route
// pattern and never the URL, the headers or a body, which hold ids, tokens and game data. Of a problem's detail it has
// what this code says: the names in it go to the answer alone.
func observe(log *slog.Logger, now func() time.Time) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := now()
			err := recoverPanic(log, next, c)
			if err != nil {
				c.Error(err)
			}
			req, res := c.Request(), c.Response()
			level := levelOf(res.Status)
			if err != nil && res.Status < http.StatusBadRequest {
				level = slog.LevelError // the answer had begun: the client got a part of it
			}
			if c.Get(quiet) != nil {
				level = slog.LevelDebug
			}
			if !log.Enabled(req.Context(), level) {
				return nil
			}
			attrs := []slog.Attr{
				slog.String("method", methodOf(req)),
				slog.String("route", c.Path()),
				slog.Int("status", res.Status),
				slog.Duration("took", now().Sub(start)),
				slog.Int64("bytes", res.Size),
				slog.String("correlationId", CorrelationID(c)),
			}
			switch {
			case res.Status == statusClientGone:
				attrs = append(attrs, slog.String("error", clientGone))
			case err != nil:
				attrs = append(attrs, slog.String("error", problem.LogText(err)))
			}
			log.LogAttrs(req.Context(), level, "request", attrs...)
			return nil
		}
	}
}

const quiet = "quiet"

// LogAtDebug logs a request at debug whatever its status is. It is for probes, which come every second and whose
// handler logs what changed.
func LogAtDebug(c echo.Context) { c.Set(quiet, true) }

func levelOf(status int) slog.Level {
	switch {
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case status >= http.StatusBadRequest:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// recoverPanic runs the handler and turns a panic into an error, so that a bug costs one request. http.ErrAbortHandler
// is passed on: it is how net/http drops a connection.
func recoverPanic(log *slog.Logger, next echo.HandlerFunc, c echo.Context) (err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler:
			panic(cause) //nolint:forbidigo // passed on, not made here
		default:
			logPanic(c.Request().Context(), log, c.Path(), CorrelationID(c), cause)
			err = fmt.Errorf("handler panicked: %v", cause)
		}
	}()
	return next(c)
}

func logPanic(ctx context.Context, log *slog.Logger, route, correlationID string, cause any) {
	log.ErrorContext(ctx, "handler panicked", "route", route, "correlationId", correlationID,
		"cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
}

package ratelimit

import (
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/web"
)

// Bodies is a middleware that answers 429 when a project sends more bytes in bodies than a process takes of it. Bodies
// are counted by the length that they declare, before they are read; one that declares none counts as the longest. It
// comes behind the check of the token: strangers use up nobody's bucket.
func Bodies(r state.Rate, now func() time.Time) echo.MiddlewareFunc {
	bytes := NewLocal("bodies", r, now)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			size := c.Request().ContentLength
			if size < 0 {
				size = web.BodyLimit
			}
			if after := bytes.take(c.Param("project"), "", int(size)); after > 0 {
				return r.LimitError("bodies", after, "the bodies of this project's requests are too many bytes: %d KiB a "+
					"second are read by each process", int(r.PerSecond)>>10)
			}
			return next(c)
		}
	}
}

package web

import (
	"crypto/rand"
	"strings"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// HeaderCorrelationID carries the id that connects a request with its log lines, its trace and the problem body that a
// user shows to support.
const HeaderCorrelationID = "X-Correlation-Id"

// maxCorrelationID bounds what a client can write into our logs, in bytes.
const maxCorrelationID = 64

const idLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:"

// correlate keeps the client's correlation id if it is a plain one, and makes a new one otherwise. Handlers find the id
// in the response header; code that has only the context finds it there, for the log.
func correlate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Request().Header.Get(HeaderCorrelationID)
		if id == "" || len(id) > maxCorrelationID || strings.Trim(id, idLetters) != "" {
			id = rand.Text()
		}
		c.Response().Header().Set(HeaderCorrelationID, id)
		c.SetRequest(c.Request().WithContext(telemetry.WithCorrelationID(c.Request().Context(), id)))
		return next(c)
	}
}

// CorrelationID is the id of the request in progress.
func CorrelationID(c echo.Context) string {
	return c.Response().Header().Get(HeaderCorrelationID)
}

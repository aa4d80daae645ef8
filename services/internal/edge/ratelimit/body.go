package ratelimit

import (
	"io"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/state"
)

// Bodies is a middleware that answers 429 when a project sends more bytes in bodies than a process takes of it. A body
// is not read if the length that it declares does not fit; one that declares none must fit as the longest. Bytes count
// when they come: a length that is only declared uses up nothing. It comes behind the check of the token: strangers use
// up no bucket.
func Bodies(r state.Rate, now func() time.Time) echo.MiddlewareFunc {
	bytes := NewLocal("bodies", r, now)
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			req, project := c.Request(), auth.ProjectOf(c)
			size := req.ContentLength
			if size < 0 {
				size = web.BodyLimit
			}
			limited := func(after time.Duration) error {
				if after == 0 {
					return nil
				}
				return r.LimitError(problem.ProjectLimited, "bodies", after, "the bodies of this project's requests are too many "+
					"bytes: %d KiB a second are read by each process", int(r.PerSecond)>>10)
			}
			if err := limited(bytes.lacks(project, "", int(size))); err != nil {
				return err
			}
			given := req.Body
			if given == nil {
				return next(c)
			}
			req.Body = &Counted{given, func(n int) error { return limited(bytes.take(project, "", n)) }}
			defer func() { req.Body = given }() // the server must see its own body again
			return next(c)
		}
	}
}

// Counted is a body that passes the length of each read to Take, whose error refuses the bytes.
type Counted struct {
	io.ReadCloser

	Take func(n int) error
}

func (b *Counted) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if refused := b.Take(n); refused != nil {
		return 0, refused
	}
	return n, err
}

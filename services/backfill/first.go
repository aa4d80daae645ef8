package backfill

import (
	"context"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/fault"
	"matchmaker.dev/services/internal/web"
)

// badConnection is the code of a fault that only requests of the first generation have.
const badConnection = "badConnection"

// deprecate marks the answers of the first generation, those to strangers included: since when it is
// deprecated (RFC 9745), where that is documented, and what comes after it (RFC 5829).
func deprecate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Deprecation", "@1767225600") // 2026-01-01: it was deprecated before this service was begun
		header.Set("Link", `</openapi.json>; rel="deprecation"; type="application/json", <../v2/backfill>; rel="successor-version"`)
		return next(c)
	}
}

// first answers POST /backfill, the deprecated first generation: one run of a function for one server.
//
// This version checks the request and runs nothing: a good request is Unavailable.
func (s *service) first(c echo.Context) error {
	text, err := web.Document(c)
	if err != nil {
		return err
	}
	r := definition.NewReader(text, s.Definitions)
	function := readFirst(r)
	if err := r.Err(); err != nil {
		return fault.New(fault.Invalid, "%s", err) // all faults; they never repeat settings
	}
	if err := s.uploaded(c.Request().Context(), c.Param("project"), function); err != nil {
		return err
	}
	return fault.New(fault.Unavailable, "this version does not run backfill of the first generation, which is deprecated: use backfill tickets (POST /%s/matchmaking/api/v2/backfill)", c.Param("project"))
}

// uploaded is Invalid when the project has no function of a name.
func (s *service) uploaded(ctx context.Context, project, function string) error {
	_, err := s.Store.Function(ctx, project, function)
	if fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.Invalid, "function.name: the project has no function %q", function)
	}
	return err
}

// readFirst checks BackfillConfig of the contract, and returns the name of the function.
func readFirst(r *definition.Reader) (function string) {
	given, ok := r.Object("",
		definition.Member{Name: "connection", Read: func(at definition.Path) {
			text, ok := r.Text(at)
			if reason := connectionFault(text); reason != "" {
				r.Add(badConnection, at, "%s", reason)
			} else if ok && text == "" {
				r.Add(badConnection, at, "empty, ip:port of the server is expected")
			}
		}},
		definition.Member{Name: "function", Read: func(at definition.Path) { function = r.Function(at).Name }},
		definition.Member{Name: "pools", Read: func(at definition.Path) { r.Pools(at) }},
		definition.Member{Name: "config", Read: func(at definition.Path) { r.Settings(at) }},
	)
	if ok && !given["connection"] {
		r.Add(badConnection, "connection", "required, ip:port of the server")
	}
	if ok && !given["function"] {
		r.Add(definition.MissingTargetFunction, "function", "required, an object with the name of an uploaded function")
	}
	return function
}

package web

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/problem"
)

// negotiate refuses requests that accept no JSON, before they change anything. No Accept header, or an empty one,
// accepts all. A DELETE is answered without a body, so it does not matter what its client accepts.
func negotiate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if r := c.Request(); r.Method != http.MethodDelete && !acceptsJSON(r.Header) {
			return problem.New(problem.Unacceptable, "Accept: answers are application/json, errors application/problem+json")
		}
		return next(c)
	}
}

func acceptsJSON(header http.Header) bool {
	lines := header["Accept"]
	switch {
	case len(lines) == 0:
		return true
	case len(lines) == 1 && (lines[0] == "*/*" || lines[0] == echo.MIMEApplicationJSON || lines[0] == ""):
		return true
	}
	for entry := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		media, params, err := mime.ParseMediaType(entry)
		if err != nil {
			continue
		}
		switch media {
		case "*/*", "application/*", echo.MIMEApplicationJSON, mediaProblem:
			if hasWeight(params) {
				return true
			}
		}
	}
	return false
}

// hasWeight is false for ranges of weight 0, which mean "not this".
func hasWeight(params map[string]string) bool {
	q, given := params["q"]
	if !given {
		return true
	}
	weight, err := strconv.ParseFloat(q, 64)
	return err == nil && weight > 0
}

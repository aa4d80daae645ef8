package web

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

// negotiate refuses requests that accept no JSON, before they change anything. No Accept header, or an empty one,
// accepts all. A DELETE is answered without a body, so it does not matter what its client accepts.
func negotiate(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if path := c.Path(); path == Console || strings.HasPrefix(path, Console+"/") {
			return next(c)
		} else if (path == TicketEvents || path == PartyEvents) && r.Method != http.MethodOptions {
			if !accepts(r.Header, EventStream, "text/*") {
				return problem.New(problem.NotAcceptable, "Accept: this is answered with %s, errors with %s", EventStream,
					mediaProblem)
			}
			return next(c)
		}
		if c.Path() == ProjectEvents && WantsStream(r.Header) {
			return next(c)
		}
		if r.Method != http.MethodDelete && r.Method != http.MethodOptions && !acceptsJSON(r.Header) {
			return problem.New(problem.NotAcceptable, "Accept: answers are application/json, errors application/problem+json")
		}
		return next(c)
	}
}

func acceptsJSON(header http.Header) bool {
	if lines := header["Accept"]; len(lines) == 1 && (lines[0] == "*/*" || lines[0] == echo.MIMEApplicationJSON) {
		return true
	}
	return accepts(header, "application/*", echo.MIMEApplicationJSON, mediaProblem)
}

// EventStream is the media type of server-sent events.
const EventStream = "text/event-stream"

// WantsStream reports whether a request asks for server-sent events by name.
func WantsStream(header http.Header) bool {
	return names(header, EventStream)
}

// accepts reports whether a request accepts one of some media types. Without the header it accepts all.
func accepts(header http.Header, types ...string) bool {
	lines := header["Accept"]
	return len(lines) == 0 || len(lines) == 1 && lines[0] == "" || names(header, "*/*") || names(header, types...)
}

// names reports whether the Accept header lists one of some media types or ranges, with a weight above 0.
func names(header http.Header, types ...string) bool {
	for entry := range strings.SplitSeq(strings.Join(header["Accept"], ","), ",") {
		media, params, err := mime.ParseMediaType(entry)
		if err == nil && slices.Contains(types, media) && hasWeight(params) {
			return true
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

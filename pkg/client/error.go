package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Error is an answer of the service that is not success. Find it in a call's error with errors.AsType[*client.Error].
type Error struct {
	// Method and Path are what was asked, without the query.
	Method, Path string
	// Status is the HTTP status code.
	Status int
	// Title is the short text of the status.
	Title string
	// Detail says what was wrong; empty when the service did not say.
	Detail string
	// Code says what was wrong, for programs. It is empty when something before the service answered, and may be one of a
	// later version: then Status says what to do.
	Code Code
	// Validation lists every fault of a refused config, and is empty otherwise.
	Validation []Validation
	// CorrelationID finds the request in the service's logs; may be empty.
	CorrelationID string
	// RetryAfter is how long the service asked to wait, 0 when it did not say.
	RetryAfter time.Duration
}

// Error is one line: the request, the status and the reason.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "client: %s %s: %d %s", e.Method, e.Path, e.Status, e.Title)
	separator := ": "
	if e.Detail != "" {
		b.WriteString(separator + e.Detail)
		separator = "; "
	}
	for _, v := range e.Validation {
		b.WriteString(separator + v.ResultCode + ": " + v.Message)
		separator = "; "
	}
	if e.CorrelationID != "" {
		fmt.Fprintf(&b, " (correlation id %s)", e.CorrelationID)
	}
	return b.String()
}

// Status is the HTTP status of the [*Error] in err's chain, or 0 when the failure was not an answer of the service.
func Status(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// Code is what went wrong. [PlayerText] is what a player may be told.
type Code string

// CodeOf is the code of the [*Error] in err's chain, or "" when the failure was not an answer of the service.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// IsNotFound reports whether the service said that what a request names is not there, or no longer. A 404 of something
// in between, or of a path that the service does not have, is another failure.
func IsNotFound(err error) bool {
	code := CodeOf(err)
	return Status(err) == http.StatusNotFound && code != "" && code != CodeNotFound
}

// problem is the RFC 9457 body of an answer that is not success.
type problem struct {
	Title      string `json:"title"`
	Detail     string `json:"detail"`
	Code       Code   `json:"code"`
	Extensions struct {
		CorrelationID string `json:"correlationId"`
	} `json:"extensions"`
}

// newError reads an answer that is not success. Whatever stands in the way may have written it, a proxy for one, so no
// body is too odd to make an error of.
func newError(r *request, answer *http.Response, body []byte, now time.Time) *Error {
	e := &Error{
		Method: r.method, Path: "/" + r.path, Status: answer.StatusCode,
		Title:         http.StatusText(answer.StatusCode),
		CorrelationID: answer.Header.Get("X-Correlation-Id"),
		RetryAfter:    retryAfter(answer.Header, now),
	}
	if location := answer.Header.Get("Location"); location != "" && answer.StatusCode/100 == 3 {
		e.Detail = "the service is said to be at " + location
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if !strings.HasSuffix(kind, "json") {
		return e
	}
	if err := json.Unmarshal(body, &e.Validation); err == nil {
		return e
	}
	e.Validation = nil
	var p problem
	if err := json.Unmarshal(body, &p); err != nil {
		return e
	}
	e.Code = p.Code
	e.Title, e.Detail = cmp.Or(p.Title, e.Title), cmp.Or(p.Detail, e.Detail)
	e.CorrelationID = cmp.Or(p.Extensions.CorrelationID, e.CorrelationID)
	return e
}

// retryAfter reads the header's two forms, seconds and a date, which counts from the answer's own: the clock here may
// be wrong. It is 0 when the header holds neither.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// Codes where no answer of the service says what went wrong.
const (
	CodeOffline    Code = "offline"    // no whole answer came
	CodeUnexpected Code = "unexpected" // what came is not what the API says
)

// GeneralCode is what sort of failure ended a call: [CodeOffline], [CodeUnexpected], or the general code of the status,
// which a proxy may have answered, too. There are no others in later versions.
func GeneralCode(err error) Code {
	status := Status(err)
	switch {
	case status == 0 && errors.Is(err, ErrNoToken):
		return CodeUnauthenticated
	case status == 0 && isTransport(err):
		return CodeOffline
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout:
		return CodeUnavailable
	case status == http.StatusPreconditionFailed:
		return CodeConflict
	}
	for _, c := range codes {
		if c.status == status {
			return c.code // the general code is the first
		}
	}
	if status/100 == 4 {
		return CodeInvalid
	}
	return CodeUnexpected
}

// isTransport reports whether a request got no whole answer, whatever the reason.
func isTransport(err error) bool {
	_, ok := errors.AsType[*url.Error](err)
	return ok || connectionFailed(err)
}

// PlayerText is a sentence in English that a player may be told of a failed call. It is the same for all errors of a
// code, and of a general code where this version does not know the code; translate it by these.
func PlayerText(err error) string {
	general := GeneralCode(err)
	for _, code := range []Code{CodeOf(err), general} {
		for _, c := range codes {
			if c.code == code {
				return c.player
			}
		}
	}
	if general == CodeOffline {
		return "Matchmaking cannot be reached. Check your connection and try again."
	}
	return "Matchmaking gave an answer that the game does not understand. Try again later."
}

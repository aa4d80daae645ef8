package web

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

// mediaProblem is the content type of every error that package web writes.
const mediaProblem = "application/problem+json"

// maxDetail bounds what an error repeats of what a client sent, in bytes.
const maxDetail = 2 << 10

// statusClientGone is the logged status of a request whose client hung up before the answer.
const statusClientGone = 499

// problemBody is the error body of the contract: RFC 9457's members, the code, and the correlation id in an object.
type problemBody struct {
	Type       string     `json:"type"`
	Title      string     `json:"title"`
	Status     int        `json:"status"`
	Detail     string     `json:"detail"`
	Code       string     `json:"code"`
	Instance   *string    `json:"instance"` // always null
	Extensions extensions `json:"extensions"`
}

type extensions struct {
	CorrelationID string `json:"correlationId"`
}

// describe is the status, the code and the detail a caller may see. What fails after the client hung up is no failure
// of ours: the request's context has ended, and with it whatever was done for it.
func describe(c echo.Context, err error) (status int, code problem.Code, detail string) {
	if f, ok := errors.AsType[*problem.Error](err); ok && f.Kind != problem.Internal {
		status, code, detail = f.Kind.Status(), f.Code, f.Detail
	} else {
		status, detail = describeOther(c, err)
		code = problem.OfStatus(status)
	}
	if status >= http.StatusInternalServerError && c.Request().Context().Err() != nil {
		return statusClientGone, code, clientGone
	}
	return status, code, detail
}

const clientGone = "the client closed the connection before the answer"

func describeOther(c echo.Context, err error) (status int, detail string) {
	if h, ok := errors.AsType[*echo.HTTPError](err); ok && h.Code < http.StatusInternalServerError {
		switch h.Code {
		case http.StatusNotFound:
			return h.Code, "this path does not exist"
		case http.StatusMethodNotAllowed:
			return h.Code, "this path does not take the method " + c.Request().Method
		}
		if text, ok := h.Message.(string); ok {
			return h.Code, text
		}
		return h.Code, http.StatusText(h.Code)
	}
	return http.StatusInternalServerError, "internal error; the correlation id helps support to find its cause"
}

func writeProblem(log *slog.Logger, c echo.Context, err error) {
	res := c.Response()
	if res.Committed {
		return // the status is out; the access log has the error
	}
	status, code, detail := describe(c, err)
	header := res.Header()
	if status == http.StatusRequestEntityTooLarge {
		// Otherwise net/http reads on through what the client still sends.
		header.Set(echo.HeaderConnection, "close")
	}
	if after := retryAfter(err, status); after != "" && header.Get(echo.HeaderRetryAfter) == "" {
		header.Set(echo.HeaderRetryAfter, after)
	}
	setRateLimit(header, err)
	header.Set(echo.HeaderCacheControl, "no-store")
	header.Set(echo.HeaderContentType, mediaProblem) // over what a handler set for its answer
	body, failed := problemText(status, code, shortened(detail, maxDetail), CorrelationID(c))
	if failed == nil {
		failed = c.Blob(status, mediaProblem, body) // net/http leaves out the body of an answer to HEAD
	}
	if failed != nil {
		log.DebugContext(c.Request().Context(), "error answer not written", "error", failed)
	}
}

func problemText(status int, code problem.Code, detail, correlationID string) ([]byte, error) {
	return json.Marshal(problemBody{
		Type:       "https://httpstatuses.io/" + strconv.Itoa(status),
		Title:      cmp.Or(http.StatusText(status), "Client Closed Request"),
		Status:     status,
		Detail:     detail,
		Code:       code.String(),
		Extensions: extensions{CorrelationID: correlationID},
	})
}

// setRateLimit names the limit that was met, in the headers of draft-ietf-httpapi-ratelimit-headers: nothing is left of
// it until Retry-After.
func setRateLimit(header http.Header, err error) {
	f, ok := errors.AsType[*problem.Error](err)
	if !ok || f.Limit == nil || f.Kind != problem.Limited {
		return
	}
	policy := fmt.Sprintf("%q;q=%d", f.Limit.Name, f.Limit.Amount)
	if f.Limit.Window > 0 {
		policy += fmt.Sprintf(";w=%d", max(1, int(math.Ceil(f.Limit.Window.Seconds()))))
	}
	header.Set("RateLimit-Policy", policy)
	header.Set("RateLimit", fmt.Sprintf("%q;r=0;t=%d", f.Limit.Name, max(1, int(math.Ceil(f.RetryAfter.Seconds())))))
}

// retryAfter is the Retry-After header in whole seconds, rounded up. A 429 always has one: otherwise clients would
// guess.
func retryAfter(err error, status int) string {
	var after time.Duration
	if f, ok := errors.AsType[*problem.Error](err); ok {
		after = f.RetryAfter
	}
	if after <= 0 && status != http.StatusTooManyRequests {
		return ""
	}
	return strconv.Itoa(max(1, int(math.Ceil(after.Seconds()))))
}

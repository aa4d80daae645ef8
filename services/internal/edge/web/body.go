package web

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/internal/edge/problem"
)

// BodyLimit is the contract's "64 kB and greater yields 413": the longest body is one byte shorter.
const BodyLimit = 64 << 10

// limitBody bounds request bodies. A request that declares too long a body is refused before anything is read. A PUT
// may be an upload with its own limit (LimitBody), which is not known here, so its declared length is checked by the
// first read: every PUT of the API has a body that is read.
func limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		req := c.Request()
		if req.Body == nil || req.Body == http.NoBody {
			return next(c)
		}
		if req.Method != http.MethodPut && req.ContentLength >= BodyLimit {
			return tooLarge(BodyLimit)
		}
		given := req.Body
		req.Body = &body{ReadCloser: given, declared: req.ContentLength, limit: BodyLimit}
		// net/http must see its own body again: it then knows that there was more to read, and gives the client time to read
		// the answer before it resets the connection.
		defer func() { req.Body = given }()
		return next(c)
	}
}

// LimitBody gives a route another limit than 64 KiB: bodies of n bytes and more yield 413. It is for uploads. A service
// with its own limit or status passes a larger n and counts the bytes itself. The work on an upload may take longer
// than ReadTimeout, which ends with the body: net/http would take it for a client that is gone.
func LimitBody(n int64) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if b, ok := c.Request().Body.(*body); ok {
				b.limit = n
				b.end = func() { _ = http.NewResponseController(c.Response()).SetReadDeadline(time.Time{}) }
			}
			return next(c)
		}
	}
}

// body is a request body that fails with problem.TooLarge instead of yielding limit bytes or more. It reads at most
// limit bytes of the client.
type body struct {
	io.ReadCloser
	declared int64 // Content-Length, -1 when not declared
	limit    int64
	read     int64
	end      func() // called at the end of the body; may be nil
}

func (b *body) Read(p []byte) (int, error) {
	if b.declared >= b.limit {
		return 0, tooLarge(b.limit)
	}
	p = p[:min(int64(len(p)), b.limit-b.read)]
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.read >= b.limit {
		return 0, tooLarge(b.limit)
	}
	if err == io.EOF && b.end != nil {
		b.end()
	}
	return n, err
}

func tooLarge(limit int64) error {
	return problem.New(problem.TooLarge, "the body is too large: it must be smaller than %d bytes", limit).
		Exceeds("body")
}

// ReadJSON reads the request's JSON body as it stands, for services that report all mistakes of a body at once. It
// refuses what Decode refuses of any body: the content type, the size, an empty body, anything that is not exactly one
// JSON value in UTF-8, and nesting over 40. Members may be given twice in what it returns. Such bodies are files that
// people write, so they may have a byte order mark, and be UTF-16.
func ReadJSON(c echo.Context) (jsontext.Value, error) {
	text, err := readBody(c.Request())
	if err != nil {
		return nil, err
	}
	return read(text)
}

func read(body []byte) (jsontext.Value, error) {
	text, err := document.Text(body)
	if err != nil {
		return nil, problem.New(problem.Invalid, "the body: %s", err)
	}
	if len(bytes.TrimLeft(text, " \t\r\n")) == 0 {
		return nil, problem.New(problem.Invalid, "the body is empty: a JSON value is expected")
	}
	if TooDeep(text, maxDocumentDepth) {
		return nil, problem.New(problem.Invalid, "the body: objects and arrays nest deeper than %d", maxDocumentDepth)
	}
	var v jsontext.Value
	if err := json.Unmarshal(text, &v, jsontext.AllowDuplicateNames(true)); err != nil {
		return nil, explain(err, text)
	}
	return v, nil
}

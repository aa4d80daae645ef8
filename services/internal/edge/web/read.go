package web

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/internal/edge/problem"
)

// ReadJSON reads the request's JSON body as it stands, for services that report all mistakes of a body at once. It
// refuses what Decode refuses of any body: the content type, the size, an empty body, anything that is not exactly one
// JSON value in UTF-8, and nesting over 40. Members may be given twice in what it returns. Such bodies are files that
// people write, so they may have a byte order mark, and be UTF-16.
func ReadJSON(c echo.Context) (jsontext.Value, error) {
	req := c.Request()
	if err := checkContentType(req.Header); err != nil {
		return nil, err
	}
	text, err := readBody(req)
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

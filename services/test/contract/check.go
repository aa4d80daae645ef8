package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"matchmaker.dev/services/internal/openapi"
)

const mediaProblem = "application/problem+json"

// checker checks answers against the OpenAPI document.
type checker struct {
	doc   *openapi3.T
	paths []path
}

// path is a path of the document below one of its servers.
type path struct {
	segments []string
	name     string
	item     *openapi3.PathItem
}

func newChecker(ctx context.Context) (*checker, error) {
	text, err := openapi.JSON()
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(ctx); err != nil {
		return nil, err
	}
	c := &checker{doc: doc}
	for name, item := range doc.Paths.Map() {
		servers := item.Servers
		if len(servers) == 0 {
			servers = doc.Servers
		}
		for _, server := range servers {
			full := strings.TrimSuffix(server.URL, "/") + name
			c.paths = append(c.paths, path{strings.Split(full, "/"), name, item})
		}
	}
	return c, nil
}

// find is the document's path for a URL: of those that fit, the one with the most fixed segments.
func (c *checker) find(u *url.URL) *path {
	segments := strings.Split(u.EscapedPath(), "/")
	var best *path
	for i := range c.paths {
		if p := &c.paths[i]; p.fits(segments) && (best == nil || p.fixed() > best.fixed()) {
			best = p
		}
	}
	return best
}

func (p *path) fits(segments []string) bool {
	return slices.EqualFunc(p.segments, segments, func(pattern, segment string) bool {
		return pattern == segment || variable(pattern) && segment != ""
	})
}

func (p *path) fixed() int {
	return len(p.segments) - len(slices.DeleteFunc(slices.Clone(p.segments), func(s string) bool { return !variable(s) }))
}

func variable(segment string) bool { return strings.HasPrefix(segment, "{") }

// check returns what is wrong with an answer.
func (c *checker) check(in *http.Request, a answer) error {
	p := c.find(in.URL)
	if in.Method == http.MethodHead {
		return nil
	}
	return errors.Join(c.matchesDocument(p, in, a), c.problem(a))
}

// matchesDocument checks an answer against its operation.
func (c *checker) matchesDocument(p *path, in *http.Request, a answer) error {
	name, item := "", &openapi3.PathItem{}
	var operation *openapi3.Operation
	if p != nil {
		name, item = p.name, p.item
		operation = item.GetOperation(in.Method)
	}
	switch {
	case operation != nil && a.status != http.StatusMethodNotAllowed:
	case p == nil:
		operation = c.only(http.StatusNotFound, "NotFound")
	default:
		operation = c.only(http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
	if response := operation.Responses.Status(a.status); response != nil && len(response.Value.Content) == 0 &&
		len(a.body) > 0 {
		return errors.New("the answer has a body")
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: in,
			Route:   &routers.Route{Spec: c.doc, Path: name, PathItem: item, Method: in.Method, Operation: operation},
		},
		Status: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	return openapi3filter.ValidateResponse(in.Context(), input)
}

// only is an operation with a single answer, for requests that are not in the document.
func (c *checker) only(status int, name string) *openapi3.Operation {
	response := c.doc.Components.Responses[name]
	return &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, response))}
}

// problem checks what is true of all problems.
func (c *checker) problem(a answer) error {
	if a.status < 400 || a.header.Get("Content-Type") != mediaProblem {
		return nil
	}
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		return err
	}
	var errs []error
	if p.Status != a.status || p.Title != http.StatusText(a.status) || !strings.HasSuffix(p.Type,
		"/"+strconv.Itoa(a.status)) {
		errs = append(errs, fmt.Errorf("the problem is of status %d, title %q and type %q", p.Status, p.Title, p.Type))
	}
	if id := a.header.Get("X-Correlation-Id"); p.Extensions.CorrelationID != id {
		errs = append(errs, fmt.Errorf("the correlation id is %q in the body and %q in the header",
			p.Extensions.CorrelationID, id))
	}
	return errors.Join(errs...)
}

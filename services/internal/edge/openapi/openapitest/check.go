// Package openapitest checks answers against the OpenAPI document, whatever test they are for.
package openapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"matchmaker.dev/services/internal/edge/openapi"
	"matchmaker.dev/services/internal/edge/problem"
)

const mediaProblem = "application/problem+json"

// Answer is an answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Checker checks answers against the OpenAPI document.
type Checker struct {
	doc   *openapi3.T
	paths []path
	// headers is a document without schemas, of a version whose headers are checked without compiling theirs.
	headers    *openapi3.T
	components any // of the document

	mu     sync.Mutex
	bodies map[*openapi3.Schema]*jsonschema.Schema // compiled when they are first needed
}

// path is a path of the document below one of its servers.
type path struct {
	segments []string
	name     string
	item     *openapi3.PathItem
}

// New reads the document.
func New(ctx context.Context) (*Checker, error) {
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
	var whole struct {
		Components any `json:"components"`
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	c := &Checker{doc: doc, headers: &openapi3.T{OpenAPI: "3.0.3"}, components: whole.Components,
		bodies: map[*openapi3.Schema]*jsonschema.Schema{}}
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
func (c *Checker) find(u *url.URL) *path {
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

// Check returns what is wrong with an answer.
func (c *Checker) Check(in *http.Request, a Answer) error {
	p := c.find(in.URL)
	if in.Method == http.MethodHead {
		return nil
	}
	return errors.Join(c.matchesDocument(p, in, a), Problem(a))
}

// matchesDocument checks an answer against its operation.
func (c *Checker) matchesDocument(p *path, in *http.Request, a Answer) error {
	name, item := "", &openapi3.PathItem{}
	var operation *openapi3.Operation
	if p != nil {
		name, item = p.name, p.item
		operation = item.GetOperation(in.Method)
	}
	switch {
	case operation != nil && a.Status != http.StatusMethodNotAllowed:
	case p == nil:
		operation = c.only(http.StatusNotFound, "NotFound")
	default:
		operation = c.only(http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: in,
			Route:   &routers.Route{Spec: c.headers, Path: name, PathItem: item, Method: in.Method, Operation: operation},
		},
		Status: a.Status, Header: a.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, ExcludeResponseBody: true},
	}
	if err := openapi3filter.ValidateResponse(in.Context(), input); err != nil {
		return err
	}
	if response := operation.Responses.Status(a.Status); response != nil { // else a redirect, which needs none
		return c.bodyMatches(response.Value, a)
	}
	return nil
}

// bodyMatches checks the body of an answer.
func (c *Checker) bodyMatches(response *openapi3.Response, a Answer) error {
	if len(response.Content) == 0 && len(a.Body) > 0 {
		return errors.New("the answer has a body")
	}
	if len(response.Content) == 0 || isStream(a) {
		return nil
	}
	media := response.Content.Get(a.Header.Get("Content-Type"))
	if media == nil {
		return fmt.Errorf("the answer has another Content-Type: %q", a.Header.Get("Content-Type"))
	}
	if media.Schema == nil {
		return nil
	}
	schema, err := c.compile(media.Schema)
	if err != nil {
		return err
	}
	var value any = string(a.Body)
	if mediaType, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); strings.HasSuffix(mediaType, "json") {
		if value, err = jsonschema.UnmarshalJSON(bytes.NewReader(a.Body)); err != nil {
			return err
		}
	}
	return schema.Validate(value)
}

// compile compiles a schema of the document, once.
func (c *Checker) compile(ref *openapi3.SchemaRef) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.bodies[ref.Value]; s != nil {
		return s, nil
	}
	text, err := json.Marshal(ref)
	if err != nil {
		return nil, err
	}
	var schema any
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	const name = "https://matchmaker.dev/answer.json"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource(name, map[string]any{"allOf": []any{schema}, "components": c.components}); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(name)
	if err == nil {
		c.bodies[ref.Value] = compiled
	}
	return compiled, err
}

// isStream reports whether an answer is a stream of events, by its schema.
func isStream(a Answer) bool {
	return strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream")
}

// only is an operation with a single answer, for requests that are not in the document.
func (c *Checker) only(status int, name string) *openapi3.Operation {
	response := c.doc.Components.Responses[name]
	return &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(status, response))}
}

// body is the contract's ProblemDetails.
type body struct {
	Type, Title, Code string
	Status            int
	Extensions        struct{ CorrelationID string }
}

// Problem checks what is true of all problems.
func Problem(a Answer) error {
	if a.Status < 400 || a.Header.Get("Content-Type") != mediaProblem {
		return nil
	}
	var p body
	if err := json.Unmarshal(a.Body, &p); err != nil {
		return err
	}
	var errs []error
	if p.Status != a.Status || p.Title != http.StatusText(a.Status) || !strings.HasSuffix(p.Type,
		"/"+strconv.Itoa(a.Status)) {
		errs = append(errs, fmt.Errorf("the problem is of status %d, title %q and type %q", p.Status, p.Title, p.Type))
	}
	if !slices.ContainsFunc(problem.Definitions(), func(d problem.Definition) bool {
		return d.Name == p.Code && d.Status == problem.OfStatus(a.Status).Status()
	}) {
		errs = append(errs, fmt.Errorf("the code %q is none of status %d", p.Code, a.Status))
	}
	if id := a.Header.Get("X-Correlation-Id"); p.Extensions.CorrelationID != id {
		errs = append(errs, fmt.Errorf("the correlation id is %q in the body and %q in the header",
			p.Extensions.CorrelationID, id))
	}
	return errors.Join(errs...)
}

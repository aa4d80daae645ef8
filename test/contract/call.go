package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/services/internal/edge/openapi/openapitest"
)

const mediaProblem = "application/problem+json"

// bodyLimit is the limit of the contract: bodies of 64 kB and more are refused.
const bodyLimit = 64 << 10

// request is a request of a trial.
type request struct {
	as     Actor
	method string
	// path is below the project's base address, or below the URL when it begins with a slash.
	path string
	// project is the project; the target's when empty.
	project string
	// body is JSON, unless kind says otherwise. No body is sent when it is empty.
	body string
	// kind is the content type; "none" for none at all.
	kind   string
	header http.Header
	// behalf is the header X-On-Behalf-Of; not sent when empty.
	behalf string
	// undeclared tells that the body is sent without a length.
	undeclared bool
	// stream is the body instead of body, and length its length; -1 for none.
	stream io.Reader
	length int64
	// limited tells that the request is not repeated when the answer is 429.
	limited bool
}

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) whole() openapitest.Answer {
	return openapitest.Answer{Status: a.status, Header: a.header, Body: a.body}
}

func (a answer) String() string { return fmt.Sprintf("%d %.400s", a.status, a.body) }

// send sends a request and checks the answer against the OpenAPI document. It repeats the request after an answer 429.
func (t *trial) send(r request) answer {
	for {
		a, err := t.exchange(r)
		if err != nil {
			t.Fatalf("%s %s: %v", r.method, r.path, err)
		}
		if a.status != http.StatusTooManyRequests || r.limited {
			return a
		}
		seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
		if err != nil {
			t.Fatalf("%s %s: 429 with Retry-After %q", r.method, r.path, a.header.Get("Retry-After"))
		}
		if err := t.pause(time.Duration(seconds) * time.Second); err != nil {
			t.Fatalf("%s %s: %v", r.method, r.path, err)
		}
	}
}

// exchange sends a request once. It may be called from several goroutines.
func (t *trial) exchange(r request) (answer, error) {
	t.needs(r.as)
	in, a, err := t.call(r)
	for range 10 {
		if len(r.body) < bodyLimit || err == nil && a.status != http.StatusBadGateway {
			break
		}
		// A server that stops reading a large body closes the connection soon after its answer. This client, or a gateway in
		// between, may then fail to read the answer.
		in, a, err = t.call(r)
	}
	if err != nil {
		return answer{}, err
	}
	if err := t.checker.Check(in, a.whole()); err != nil {
		t.Errorf("%s %s: the answer does not fit the OpenAPI document: %v\n%v", r.method, r.path, err, a)
	}
	return a, nil
}

// call sends a request and reads the answer.
func (t *trial) call(r request) (*http.Request, answer, error) {
	in, err := t.request(r)
	if err != nil {
		return nil, answer{}, err
	}
	out, err := t.HTTP.Do(in)
	if err != nil {
		return nil, answer{}, err
	}
	body, err := io.ReadAll(out.Body)
	return in, answer{out.StatusCode, out.Header, body}, errors.Join(err, out.Body.Close())
}

func (t *trial) request(r request) (*http.Request, error) {
	address := t.URL + r.path
	if !strings.HasPrefix(r.path, "/") {
		address = t.URL + "/" + cmp.Or(r.project, t.Project) + "/matchmaking/api/v1/" + r.path
	}
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
		if r.undeclared {
			body = io.MultiReader(body) // net/http does not know its length
		}
	}
	if r.stream != nil {
		body = r.stream
	}
	in, err := http.NewRequestWithContext(t.ctx, r.method, address, body)
	if err != nil {
		return nil, err
	}
	if r.stream != nil {
		in.ContentLength = r.length
	}
	switch {
	case r.kind == "none":
	case r.kind != "":
		in.Header.Set("Content-Type", r.kind)
	case r.body != "":
		in.Header.Set("Content-Type", "application/json")
	}
	if token := t.tokens[r.as]; token != "" {
		in.Header.Set("Authorization", "Bearer "+token)
	}
	if r.behalf != "" {
		in.Header.Set("X-On-Behalf-Of", r.behalf)
	}
	for name, values := range r.header {
		in.Header[name] = values
	}
	return in, nil
}

// do sends a request. The answer must have a status.
func (t *trial) do(status int, r request) answer {
	a := t.send(r)
	if a.status != status {
		t.Fatalf("%s %s %.200s: got %v, want %d", r.method, r.path, r.body, a, status)
	}
	return a
}

// mustRefuse sends a request. The answer must be a problem with a status and all parts in its detail.
func (t *trial) mustRefuse(status int, r request, parts ...string) answer {
	a := t.send(r)
	what := fmt.Sprintf("%s %s %.200s", r.method, r.path, r.body)
	if a.status != status {
		t.Errorf("%s: got %v, want %d", what, a, status)
		return a
	}
	t.contains(what, a.problem(t).Detail, parts...)
	return a
}

// problem is the contract's ProblemDetails.
type problem struct {
	Type, Title, Detail, Code string
	Status                    int
	Extensions                struct{ CorrelationID string }
}

// problem is the body of a problem. The checker has checked what is true of all problems.
func (a answer) problem(t *trial) problem {
	var p problem
	if kind := a.header.Get("Content-Type"); kind != mediaProblem {
		t.Errorf("%v: of the content type %q, want %s", a, kind, mediaProblem)
		return p
	}
	a.decode(t, &p)
	return p
}

// decode decodes the body. The checker has checked the names of its members.
func (a answer) decode(t *trial, into any) {
	if err := json.NewDecoder(bytes.NewReader(a.body)).Decode(into); err != nil {
		t.Fatalf("%v in %v", err, a)
	}
}

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

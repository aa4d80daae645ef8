package openapitest

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// shared is the checker of all tests of a binary: to read the document takes long.
var shared = sync.OnceValues(func() (*Checker, error) {
	return New(context.Background()) //nolint:forbidigo // it outlives the test that comes first
})

// Handler checks each answer of a handler that has the routes of services. It does not check answers to OPTIONS, which
// the document leaves to CORS, answers that were not received, paths whose last name is empty, answers of a gateway in
// front of the services, nor 431, which the document has for all paths.
func Handler(t testing.TB, next http.Handler) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.Clone(r.Context()) // a router may change it
		seen := &recorder{ResponseWriter: w}
		next.ServeHTTP(seen, r)
		byGateway := seen.status >= http.StatusBadGateway && w.Header().Get("X-Correlation-Id") == ""
		nameless := strings.HasSuffix(asked.URL.Path, "/")
		anywhere := seen.status == http.StatusRequestHeaderFieldsTooLarge
		if r.Context().Err() != nil || r.Method == http.MethodOptions || nameless || byGateway || anywhere {
			return
		}
		c, err := shared()
		if err == nil {
			status := cmp.Or(seen.status, http.StatusOK)
			err = c.Check(asked, Answer{Status: status, Header: w.Header().Clone(), Body: seen.body.Bytes()})
		}
		if err != nil {
			t.Errorf("%s %s: the answer does not fit the OpenAPI document: %v\n%d %.400s", r.Method, r.URL, err, seen.status,
				seen.body.Bytes())
		}
	})
}

// recorder keeps the answer that it passes on.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= http.StatusOK {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(text []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.body.Write(text)
	return r.ResponseWriter.Write(text)
}

// Unwrap lets a service flush and set deadlines.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

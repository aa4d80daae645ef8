package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// request is an HTTP request below the project's matchmaking/api/, for tests that need more than package client shows.
type request struct {
	method, path string
	token        string
	header       map[string]string
	body         string
}

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (p *project) send(ctx context.Context, r request) (answer, error) {
	out, err := p.begin(ctx, r)
	if err != nil {
		return answer{}, err
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	return answer{out.StatusCode, out.Header, body}, err
}

// begin returns when the headers of the answer are here.
func (p *project) begin(ctx context.Context, r request) (*http.Response, error) {
	address := p.s.front() + "/" + p.name + "/matchmaking/api/" + r.path
	in, err := http.NewRequestWithContext(ctx, r.method, address, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if r.body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		in.Header.Set("Authorization", "Bearer "+r.token)
	}
	for name, value := range r.header {
		in.Header.Set(name, value)
	}
	return p.s.http.Do(in)
}

func (p *project) mustSend(t *testing.T, r request) answer {
	t.Helper()
	a, err := p.send(within(t), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (a answer) String() string { return fmt.Sprintf("%d %v %s", a.status, a.header, a.body) }

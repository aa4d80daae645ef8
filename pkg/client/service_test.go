package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

// heard is a request as the service heard it.
type heard struct {
	Line   string // method and target
	Header http.Header
	Body   string
}

// reply is what the service says to one request. With status 0 it says nothing and cuts the connection, after it read
// the request.
type reply struct {
	status int
	header map[string]string
	body   string
}

// service answers requests with the replies it was given, in order, the last one again and again.
type service struct {
	*httptest.Server
	mu      sync.Mutex
	replies []reply
	heard   []heard
}

func newService(t *testing.T, replies ...reply) *service {
	t.Helper()
	s := &service{replies: replies}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.answer))
	// On a connection that was used before, Go's transport repeats some requests by itself, and then the number heard
	// is not the client's doing.
	s.Config.SetKeepAlivesEnabled(false)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"status":%d,"code":%q}`, status, code)
}

func (s *service) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.mu.Lock()
	s.heard = append(s.heard, heard{Line: r.Method + " " + r.RequestURI, Header: r.Header, Body: string(body)})
	next := s.replies[0]
	if len(s.replies) > 1 {
		s.replies = s.replies[1:]
	}
	s.mu.Unlock()
	if next.status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, value := range next.header {
		w.Header().Set(name, value)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}

// requests are those heard so far.
func (s *service) requests() []heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]heard(nil), s.heard...)
}

// clock is a time that passes when a goroutine sleeps, and remembers the naps.
type clock struct {
	now  time.Time
	naps []time.Duration
}

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.naps = append(c.naps, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

// newClient is a client of s whose sleeps take no time and whose jitter is 0.
func newClient(t *testing.T, s *service) (*client.Client, *clock) {
	t.Helper()
	clock := &clock{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	c, err := client.New(client.Options{
		URL: s.URL, Project: "demo", Token: client.StaticToken("the-token\n"),
		Retry: client.Retry{Sleep: clock.Sleep, Now: clock.Now, Rand: func() float64 { return 0.5 }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, clock
}

// asJSON is the JSON value in text, to compare without regard to spacing.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

package backfill

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/embedded"
	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/internal/payload"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/internal/web"
)

// base is the place of the second generation that most tests use.
const base = "/demo/matchmaking/api/v2/backfill"

// match is the service on a real Redis, spoken to over HTTP as a game server.
type match struct {
	url, token string
	issuer     *issuer.Issuer
	store      *state.Store
	millis     atomic.Int64 // the service's clock
}

func start(t *testing.T) *match {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	redis, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: t.TempDir(), Log: log})
	must(t, err)
	t.Cleanup(func() { redis.Close() })
	m := new(match)
	m.millis.Store(1_900_000_000_000)
	m.store, err = state.Open(state.Options{URL: redis.URL(), Log: log})
	must(t, err)
	t.Cleanup(func() { m.store.Close() })
	m.issuer, err = issuer.Open(t.TempDir(), time.Now)
	must(t, err)
	trust := m.issuer.Trust()
	trust.AnyProject = true
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{trust}, Log: log})
	must(t, err)

	part := New(Options{
		Store: m.store, Verifier: verifier, Log: log,
		Now:    func() time.Time { return time.UnixMilli(m.millis.Load()) },
		Limits: payload.Limits{Attributes: 2, Properties: 2, Name: 16},
	})
	must(t, part.Ready(t.Context()))
	e := web.New(log, web.Options{})
	part.Routes(e)
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	m.url = server.URL
	m.token = m.mint(t, issuer.Claims{Kind: auth.Server, Project: "demo"})
	return m
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *match) mint(t *testing.T, c issuer.Claims) string {
	t.Helper()
	c.Subject = "server-1"
	token, err := m.issuer.Mint(c)
	must(t, err)
	return token
}

// reply is what came back.
type reply struct {
	status int
	header http.Header
	body   string
}

func (m *match) do(t *testing.T, method, path, body string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, m.url+path, strings.NewReader(body))
	must(t, err)
	if m.token != "" {
		req.Header.Set("Authorization", "Bearer "+m.token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	must(t, err)
	return reply{res.StatusCode, res.Header, string(all)}
}

func (m *match) post(t *testing.T, path, body string) reply {
	t.Helper()
	return m.do(t, http.MethodPost, path, body)
}

func (m *match) put(t *testing.T, path, body string) reply {
	t.Helper()
	return m.do(t, http.MethodPut, path, body)
}

func (m *match) delete(t *testing.T, path string) reply {
	t.Helper()
	return m.do(t, http.MethodDelete, path, "")
}

// create makes a backfill ticket and returns its id.
func (m *match) create(t *testing.T, path, body string) string {
	t.Helper()
	r := m.post(t, path, body)
	r.expect(t, 201)
	var created map[string]string
	must(t, json.Unmarshal([]byte(r.body), &created))
	if len(created) != 1 || created["Id"] == "" {
		t.Fatalf("created %s", r.body)
	}
	return created["Id"]
}

func (r reply) expect(t *testing.T, status int) {
	t.Helper()
	if r.status != status {
		t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
}

// problem checks that the reply is a problem body whose detail has some words.
func (r reply) problem(t *testing.T, status int, words string) {
	t.Helper()
	r.expect(t, status)
	var p struct {
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}
	must(t, json.Unmarshal([]byte(r.body), &p))
	if r.header.Get("Content-Type") != "application/problem+json" || p.Status != status || !strings.Contains(p.Detail, words) {
		t.Errorf("%s %s, want a problem of status %d with %q", r.header.Get("Content-Type"), r.body, status, words)
	}
}

// same checks the status and compares the JSON, but for the order of members.
func (r reply) same(t *testing.T, status int, want string) {
	t.Helper()
	r.expect(t, status)
	var g, w any
	must(t, json.Unmarshal([]byte(r.body), &g))
	must(t, json.Unmarshal([]byte(want), &w))
	if diff := cmp.Diff(w, g); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}

// upload makes a function known to the project.
func (m *match) upload(t *testing.T, name string) {
	t.Helper()
	must(t, m.store.ChangeFunction(t.Context(), "demo", name, func(*pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: name}, nil
	}))
}

package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
	"matchmaker.dev/services/internal/state"
)

// child is the program that holds instances: this one has the race detector, which needs what they may not have.
var child string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "registry")
		if err == nil {
			defer func() { _ = os.RemoveAll(dir) }()
			child, err = sandboxtest.Build(dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return embeddedtest.Run(m)
	}())
}

// bench is a registry on real servers, spoken to over HTTP as a developer.
type bench struct {
	url, token string
	issuer     *issuer.Issuer
	registry   *registry
	store      *state.Store
	bus        *bus.Bus
	clock      *clock
	boxDir     string
	redis      string          // URL
	log        strings.Builder // of the sweeper
	project    string          // of requests
}

// clock stands still until it is moved. It is behind the real one, whose times the log's lines have.
type clock struct{ millis atomic.Int64 }

func newClock() *clock {
	c := new(clock)
	c.millis.Store(time.Now().Add(-time.Hour).UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.millis.Load()) }
func (c *clock) advance(d time.Duration) { c.millis.Add(d.Milliseconds()) }

// start runs a registry that has listened for long enough; change alters its options.
func start(t *testing.T, change func(*Options)) *bench {
	t.Helper()
	return startWith(t, web.Options{}, change)
}

func startWith(t *testing.T, edge web.Options, change func(*Options)) *bench {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	b := &bench{clock: newClock(), boxDir: t.TempDir(), redis: embeddedtest.Redis(t), project: "demo"}
	var err error
	b.store, err = state.Open(state.Options{Server: state.Server{URL: b.redis}, Functions: 20, History: 1000, Log: log,
		Clock: b.clock.now})
	must(t, err)
	t.Cleanup(func() { b.store.Close() })
	b.bus = embeddedtest.Bus(t, bus.Options{Name: "test"})
	embeddedtest.Prepare(t, b.bus)
	box, err := sandbox.New(sandbox.Options{Dir: b.boxDir, Log: log, Binary: child})
	must(t, err)
	t.Cleanup(box.Close)
	b.issuer, err = issuer.Open(t.TempDir(), time.Now)
	must(t, err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{b.issuer.Trust()}, Log: log})
	must(t, err)

	o := Options{Store: b.store, Bus: b.bus, Sandbox: box, Verifier: verifier, Log: log, Now: b.clock.now,
		Settings: settings.Default[Settings](), LogAge: 24 * time.Hour}
	if change != nil {
		change(&o)
	}
	b.registry, err = newRegistry(o)
	must(t, err)
	part := b.registry.part()
	e := web.New(log, edge)
	part.Routes(e)
	server := httptest.NewUnstartedServer(nil)
	server.Config, server.Listener = web.Server(openapitest.Handler(t, e), log), web.Listener(server.Listener)
	server.Start()
	t.Cleanup(server.Close)
	b.url = server.URL
	b.token = b.mint(t, issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: "demo", Role: "Manager"})
	serve(t, verifier.Run)
	serve(t, part.Run)
	eventually(t, "ready", func() error {
		b.clock.advance(time.Second)
		return part.Ready(t.Context())
	})
	return b
}

// serve runs until the test ends.
func serve(t *testing.T, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	})
}

func (b *bench) mint(t *testing.T, c issuer.Claims) string {
	t.Helper()
	token, err := b.issuer.Mint(c)
	must(t, err)
	return token
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (b *bench) do(t *testing.T, method, path string, body io.Reader, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.url+"/"+b.project+"/matchmaking/api/v1"+path, body)
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+b.token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	must(t, err)
	return answer{res.StatusCode, res.Header, all}
}

func (b *bench) get(t *testing.T, path string) answer {
	t.Helper()
	return b.do(t, http.MethodGet, path, nil)
}

func (b *bench) put(t *testing.T, path string, file []byte) answer {
	t.Helper()
	return b.do(t, http.MethodPut, path, bytes.NewReader(file))
}

func (b *bench) restart(t *testing.T, body string) answer {
	t.Helper()
	return b.do(t, http.MethodPost, "/functions/actions/restart", strings.NewReader(body), "Content-Type",
		"application/json")
}

// wants checks the status and returns the body as a T.
func wants[T any](t *testing.T, a answer, status int) T {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	var v T
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return v
}

// refused checks that the answer is a problem of a status whose detail has some words.
func refused(t *testing.T, a answer, status int, words string) {
	t.Helper()
	p := wants[struct {
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}](t, a, status)
	if media := a.header.Get("Content-Type"); media != "application/problem+json" || p.Status != status {
		t.Errorf("no problem of status %d: %s %s", status, media, a.body)
	}
	if !strings.Contains(p.Detail, words) {
		t.Errorf("detail %q, want %q in it", p.Detail, words)
	}
}

// same compares, but for the order of members.
func same(t *testing.T, a answer, status int, want string) {
	t.Helper()
	var w any
	must(t, json.Unmarshal([]byte(want), &w))
	if diff := cmp.Diff(w, wants[any](t, a, status)); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}

// eventually waits until try has no error any more.
func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("%s: %v", what, err)
		case <-tick.C:
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// isState is for eventually: the function is in the state.
func (b *bench) isState(t *testing.T, name, state string) error {
	t.Helper()
	if got := wants[response.Function](t, b.get(t, "/functions/"+name), http.StatusOK).Status.State; got != state {
		return fmt.Errorf("%s is %s, not yet %s", name, got, state)
	}
	return nil
}

package ticket_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

func TestMain(m *testing.M) { os.Exit(embeddedtest.Run(m)) }

// replicas are two processes of the service.
type replicas struct {
	urls  [2]string
	parts [2]app.Part
	token string
	// tokens makes tokens of others than ada.
	tokens *issuer.Issuer
	store  *state.Store
	bus    *bus.Bus
	lines  *lines
}

func start(t *testing.T) *replicas { return startWith(t, state.Options{}, func(*ticket.Options) {}) }

func startWith(t *testing.T, o state.Options, change func(*ticket.Options)) *replicas {
	t.Helper()
	r := &replicas{store: embeddedtest.Store(t, o), bus: embeddedtest.Bus(t, bus.Options{}), lines: new(lines)}
	log := slog.New(slog.NewTextHandler(r.lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	tokens, err := issuer.Open(t.TempDir(), time.Now)
	must(t, err)
	verifier, err := auth.New(auth.Options{Issuers: []auth.Issuer{tokens.Trust()}, Log: log})
	must(t, err)
	r.tokens = tokens
	r.token, err = tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: "ada", Project: "demo"})
	must(t, err)
	for i := range r.urls {
		e := web.New(log, web.Options{})
		o := ticket.Options{
			Store: r.store, Bus: r.bus, Verifier: verifier, Log: log, Now: time.Now,
			Settings: settings.Default[ticket.Settings](),
			Fields:   fields.Limits{Attributes: 64, Properties: 64, Players: 64, Name: 128},
		}
		change(&o)
		part := ticket.New(o)
		part.Routes(e)
		r.parts[i] = part
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- part.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			must(t, <-ended)
		})
		server := httptest.NewServer(openapitest.Handler(t, e))
		t.Cleanup(server.Close)
		r.urls[i] = server.URL + "/demo/matchmaking/api/v1/tickets"
	}
	return r
}

// lines are the lines of a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// begin sends a request and returns when the headers of its answer are here.
func (r *replicas) begin(ctx context.Context, method, url, body string, headers ...string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	return http.DefaultClient.Do(req)
}

func (r *replicas) send(ctx context.Context, method, url, body string, headers ...string) (int, string, error) {
	res, err := r.begin(ctx, method, url, body, headers...)
	if err != nil {
		return 0, "", err
	}
	text, err := rest(res)
	return res.StatusCode, text, err
}

// rest is the body of an answer.
func rest(res *http.Response) (string, error) {
	text, err := io.ReadAll(res.Body)
	return string(text), errors.Join(err, res.Body.Close())
}

func (r *replicas) create(t *testing.T) (id string) {
	t.Helper()
	_, text, err := r.send(t.Context(), http.MethodPost, r.urls[0], "{}")
	must(t, err)
	var made struct{ ID string }
	must(t, json.Unmarshal([]byte(text), &made))
	return made.ID
}

// A held GET learns of its ticket's DELETE by the bus, whichever process answers either.
func TestDeleteWakesThoseWhoWait(t *testing.T) {
	r := start(t)
	told := make(chan []string, 16)
	sub, err := r.bus.OnResults(func(_ string, a bus.Assigned) { told <- a.Tickets() })
	must(t, err)
	defer sub.Stop()
	id := r.create(t)
	status := make(chan int, 2)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		go func() {
			got, _, err := r.send(t.Context(), method, r.urls[1]+"?id="+id, "", "Prefer", `wait="20"`)
			if err != nil {
				got = -1
			}
			status <- got
		}()
	}
	got, _, err := r.send(t.Context(), http.MethodDelete, r.urls[0]+"?id="+id, "", "Accept", "text/plain")
	must(t, err)
	if got != http.StatusOK {
		t.Fatalf("DELETE: %d", got)
	}
	deadline := time.After(time.Minute)
	for heard := false; !heard; {
		select {
		case ids := <-told:
			heard = slices.Contains(ids, id)
		case <-deadline:
			t.Fatal("nobody was told of the DELETE")
		}
	}
	for range 2 {
		if got := <-status; got != http.StatusNotFound {
			t.Errorf("the answer to who waited is %d", got)
		}
	}
}

func TestDeleteMayComeTooLate(t *testing.T) {
	r := start(t)
	remove := func(id, flag string) int {
		got, body, err := r.send(t.Context(), http.MethodDelete, r.urls[0]+"?id="+id+"&unlessAssigned="+flag, "")
		must(t, err)
		if got == http.StatusConflict && !strings.Contains(body, `"code":"ticketMatched"`) {
			t.Error(body)
		}
		return got
	}
	matched := r.create(t)
	r.assign(t.Context(), t, matched)
	if got := remove(matched, "true"); got != http.StatusConflict {
		t.Errorf("a ticket with a result: %d", got)
	}
	if status, got := r.get(t, matched); status != http.StatusOK || got.Assignment == nil {
		t.Errorf("after that GET answers %d %+v", status, got)
	}
	waits := r.create(t)
	for _, c := range []struct {
		id, flag string
		status   int
	}{
		{matched, "maybe", http.StatusBadRequest}, {matched, "false", http.StatusOK}, {matched, "true", http.StatusNotFound},
		{waits, "true", http.StatusOK}, {waits, "true", http.StatusNotFound},
	} {
		if got := remove(c.id, c.flag); got != c.status {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestProjectsArePercentDecodedOnce(t *testing.T) {
	r := start(t)
	for project, want := range map[string]int{
		"%64emo": 404, "%64%65%6D%6f": 404, "demo": 404, // the project, where no such ticket is
		"%2564emo": 403, "demo%2F": 403, "%2e%2e": 403, "%2e%2e%2fdemo": 403, "demo%00": 403, "other": 403, "%ff": 403,
	} {
		url := strings.Replace(r.urls[0], "/demo/", "/"+project+"/", 1)
		if got, text, err := r.send(t.Context(), http.MethodGet, url+"?id=x", ""); got != want || err != nil {
			t.Errorf("%s: %d %s, %v, want %d", project, got, text, err, want)
		}
	}
}

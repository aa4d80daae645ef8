package allocator_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/allocator"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/openapi/openapitest"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/platform/keyfile"
	"matchmaker.dev/services/internal/state"
)

// clock is one that a test moves.
type clock struct {
	mu      sync.Mutex
	present time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.present = c.present.Add(d)
}

// gate is an allocator with an API, as game servers see it.
type gate struct {
	*world
	*clock
	url      string
	verifier *auth.Verifier
	studio   *issuer.Issuer
	servers  chan provider.Secret // tokens as servers get them
	keys     string               // the file of the keys
	mu       sync.Mutex
	status   provider.Status // of what is polled
	err      error
}

func (g *gate) Allocate(_ context.Context, r *provider.Request) (provider.Result, error) {
	if _, err := r.Payload(); err != nil {
		return provider.Result{}, err
	}
	g.servers <- r.Token
	return provider.Result{Status: provider.Allocated, Connection: "1.2.3.4:5"}, nil
}

func (g *gate) Poll(_ context.Context, refs []provider.Ref) ([]provider.Result, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if refs[0].Hosting.Fleet != "proposal's" || refs[0].Hosting.Region != "r" || refs[0].Hosting.Profile != "p" {
		return nil, errors.New("asked at another place")
	}
	return []provider.Result{{Status: g.status}}, g.err
}

func (g *gate) Release(context.Context, provider.Ref) error { return nil }

// add lets time pass, for the services and for Redis.
func (g *gate) add(d time.Duration) {
	g.clock.add(d)
	g.ahead.Add(int64(d))
}

func (g *gate) says(status provider.Status, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.status, g.err = status, err
}

const tokenTime = 30 * time.Minute

func openGate(t *testing.T) *gate {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	g := &gate{
		world: prepare(t), clock: &clock{present: time.Now()}, servers: make(chan provider.Secret, 10),
		status: provider.Allocated, keys: filepath.Join(t.TempDir(), "keys"),
	}
	if _, err := keyfile.Rotate(g.keys, g.now()); err != nil {
		t.Fatal(err)
	}
	keys, err := keyfile.Open(g.keys, g.now, log)
	if err != nil {
		t.Fatal(err)
	}
	g.options.Provider, g.options.Tokens = g, token.New(keys, g.now, tokenTime)
	if g.studio, err = issuer.Open(t.TempDir(), g.now); err != nil {
		t.Fatal(err)
	}
	g.verifier, err = auth.New(auth.Options{
		Issuers: []auth.Issuer{g.studio.Trust(), g.options.Tokens.Trust()}, Now: g.now, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	g.options.Verifier = g.verifier
	e := web.New(log, web.Options{})
	allocator.New(g.options).Routes(e)
	api := httptest.NewServer(openapitest.Handler(t, e))
	t.Cleanup(api.Close)
	g.url = api.URL
	t.Cleanup(g.run())
	return g
}

// renew asks for the next token, in a project.
func (g *gate) renew(in, token string) (status int, next string, expires time.Time, detail string) {
	g.t.Helper()
	req, err := http.NewRequestWithContext(
		g.t.Context(), http.MethodPost, g.url+"/"+in+"/matchmaking/api/v1/servers/token", http.NoBody,
	)
	if err != nil {
		g.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	var got struct {
		Token   string `json:"token"`
		Expires int64  `json:"expires"`
		Detail  string `json:"detail"`
		Code    string `json:"code"`
	}
	if err := json.Unmarshal(text, &got); err != nil {
		g.t.Fatalf("%s: %v", text, err)
	}
	return res.StatusCode, got.Token, time.UnixMilli(got.Expires), got.Code + ": " + got.Detail
}

func (g *gate) refuses(in, token string, status int, words string) {
	g.t.Helper()
	got, _, _, detail := g.renew(in, token)
	if got != status || !strings.Contains(detail, words) {
		g.t.Errorf("status %d %q, want %d with %q", got, detail, status, words)
	}
}

// tokenOf is the token of the server of a new match.
func (g *gate) tokenOf(match string) string {
	g.t.Helper()
	m := g.claim(match, match+"-a")
	m.Backfill = ""
	g.send(match)
	g.result(match + "-a")
	return string(<-g.servers)
}

func TestServersRenewTheirTokensWhileTheyLive(t *testing.T) {
	g := openGate(t)
	text := g.tokenOf("m")
	first, err := g.verifier.Verify(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	allocation := provider.Ref{Project: project, Match: "m"}.Allocation()
	if first.Kind != auth.Server || first.Subject != allocation || first.Match != "m" || first.Fleet != "proposal's" ||
		!first.MayUseProject(project) || first.MayUseProject("other") {
		t.Errorf("the server's token says %+v", first)
	}
	g.noted(g.options.Tokens.Key())
	// For days, long after the result of its match was forgotten.
	for range 200 {
		g.add(20 * time.Minute)
		if _, err := g.store.Expire(t.Context(), project, 1000*time.Hour, time.Minute, 100); err != nil {
			t.Fatal(err)
		}
		status, next, expires, detail := g.renew(project, text)
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, detail)
		}
		p, err := g.verifier.Verify(t.Context(), next)
		if err != nil || p.Match != "m" || p.Subject != allocation || p.Fleet != first.Fleet || !p.Expires.Equal(expires) ||
			expires.Sub(g.now()) < tokenTime-time.Second {
			t.Fatalf("%+v, expires %s, %v", p, expires, err)
		}
		text = next
	}
	g.says(provider.Gone, nil)
	g.refuses(project, text, http.StatusForbidden, "allocationEnded: ")
	g.says(provider.Failed, nil)
	g.refuses(project, text, http.StatusForbidden, "allocationEnded: ")
	// A server that lets its token expire is forgotten.
	g.says(provider.Allocated, nil)
	g.add(tokenTime + time.Minute)
	g.refuses(project, text, http.StatusUnauthorized, "expired")
}

// noted checks which keys of tokens were noted, the newest first.
func (g *gate) noted(keys ...string) {
	g.t.Helper()
	var noted []string
	if _, err := g.store.Changes(g.t.Context(), project, "", func(c state.AuditEntry) bool {
		if c.GetKind() == "key" {
			noted = append(noted, c.GetName())
		}
		return c.GetKind() != "key" || c.GetAction()+" "+c.GetBy() == "signs operator"
	}); err != nil || !slices.Equal(noted, keys) {
		g.t.Errorf("the audit has %q, want %q: %v", noted, keys, err)
	}
}

// A key that a renewed token is signed with is noted, too, and one that could not be noted soon again.
func TestKeysOfRenewedTokensAreNoted(t *testing.T) {
	g := openGate(t)
	at, err := url.Parse(g.redis)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	in := bufio.NewReader(conn)
	do := func(command, value string) {
		t.Helper()
		for _, line := range []string{"SELECT " + cmp.Or(strings.Trim(at.Path, "/"), "0"),
			command + " mm:{" + project + "}:audit" + value} {
			if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
				t.Fatal(err)
			}
			if reply, err := in.ReadString('\n'); err != nil || reply[0] == '-' {
				t.Fatal(line, reply, err)
			}
		}
	}
	renew := func(text string) string {
		t.Helper()
		status, next, _, detail := g.renew(project, text)
		if status != http.StatusOK {
			t.Fatalf("status %d: %s", status, detail)
		}
		return next
	}
	do("DEL", "")
	do("SET", " text")
	text := renew(g.tokenOf("m"))
	do("DEL", "")
	text = renew(text)
	g.noted() // it waits a while
	g.add(2 * time.Minute)
	first := g.options.Tokens.Key()
	text = renew(text)
	g.noted(first)
	if _, err := keyfile.Rotate(g.keys, g.now()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		g.add(20 * time.Minute)
		text = renew(text)
	}
	if g.options.Tokens.Key() == first {
		t.Fatal("the first key signs still")
	}
	g.noted(g.options.Tokens.Key(), first)
}

func TestServersOfSystemsThatDoNotTellRenewForADay(t *testing.T) {
	for name, says := range map[string]struct {
		status provider.Status
		err    error
	}{
		"cannot be asked": {provider.Unknown, nil},
		"does not answer": {provider.Unknown, errors.New("connection refused")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := openGate(t)
			text := g.tokenOf("m")
			g.says(says.status, says.err)
			for range 3 * 23 {
				g.add(20 * time.Minute)
				status, next, _, detail := g.renew(project, text)
				if status != http.StatusOK {
					t.Fatalf("status %d: %s", status, detail)
				}
				text = next
			}
			g.add(20 * time.Minute)
			_, text, _, _ = g.renew(project, text)
			g.add(20 * time.Minute)
			_, text, _, _ = g.renew(project, text)
			g.add(20 * time.Minute)
			g.refuses(project, text, http.StatusForbidden, "allocationEnded: ")
		})
	}
}

// Each renewal asks the hosting system, which serves others too.
func TestServersRenewNoFasterThanTheyMay(t *testing.T) {
	g := openGate(t)
	text, other := g.tokenOf("m"), g.tokenOf("n")
	status, detail := http.StatusOK, ""
	for n := 0; status == http.StatusOK && n < 1000; n++ {
		status, _, _, detail = g.renew(project, text)
	}
	if status != http.StatusTooManyRequests || !strings.HasPrefix(detail, "playerLimited: ") {
		t.Fatalf("status %d: %s", status, detail)
	}
	if status, _, _, detail = g.renew(project, other); status != http.StatusOK {
		t.Errorf("another server: status %d: %s", status, detail)
	}
	g.add(time.Minute)
	if status, _, _, detail = g.renew(project, text); status != http.StatusOK {
		t.Errorf("later: status %d: %s", status, detail)
	}
}

func TestWhoMayNotRenew(t *testing.T) {
	g := openGate(t)
	own := g.tokenOf("m")
	mint := func(c issuer.Claims) string {
		c.Subject, c.Project = "someone", project
		text, err := g.studio.Mint(c)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	of := func(match string) string {
		text, _, err := g.options.Tokens.Mint(token.Server{Project: project, Allocation: "a", Match: match})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	g.refuses("other", own, http.StatusForbidden, "project")
	g.refuses(project, mint(issuer.Claims{Kind: auth.Server}), http.StatusForbidden, "not one that a game server got")
	g.refuses(project, mint(issuer.Claims{Kind: auth.Player}), http.StatusForbidden, "player")
	g.refuses(project, "", http.StatusUnauthorized, "")
	g.refuses(project, of("nobody-knows"), http.StatusForbidden, "allocationEnded: ")

	// A match that is asked for, or that ended without a server.
	m := g.claim("begun", "begun-a")
	begun := []state.Beginning{{Match: m, Lease: handsOf(g.world)}}
	if _, err := g.store.BeginAllocations(t.Context(), project, begun); err != nil {
		t.Fatal(err)
	}
	g.refuses(project, of("begun"), http.StatusServiceUnavailable, "come again")
	if _, err := g.store.ReleaseMatch(t.Context(), project, m, "test", false, "allocation"); err != nil {
		t.Fatal(err)
	}
	g.refuses(project, of("begun"), http.StatusForbidden, "allocationEnded: ")
}

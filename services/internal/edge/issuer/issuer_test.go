package issuer_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

var quiet = slog.New(slog.DiscardHandler)

func at(sec int64) func() time.Time { return func() time.Time { return time.Unix(sec, 0) } }

func open(t *testing.T, dir string) *issuer.Issuer {
	t.Helper()
	i, err := issuer.Open(dir, at(1_800_000_000))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func mint(t *testing.T, i *issuer.Issuer, c issuer.Claims) string {
	t.Helper()
	token, err := i.Mint(c)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func verifier(t *testing.T, now func() time.Time, from auth.Issuer) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Options{Issuers: []auth.Issuer{from}, Now: now, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTokensAreTrusted(t *testing.T) {
	i := open(t, t.TempDir())
	v := verifier(t, at(1_800_000_000), i.Trust())
	for _, c := range []issuer.Claims{
		{Kind: auth.Player, Subject: "player-1", Project: "demo"},
		{Kind: auth.Developer, Subject: "dev", Project: "demo", Role: "Owner"},
		{Kind: auth.Server, Subject: "srv", Project: "demo", TTL: time.Minute},
		{Kind: auth.Service, Subject: "svc", Project: "demo", Scope: "matchmaking matchmaking.read"},
	} {
		p, err := v.Verify(t.Context(), mint(t, i, c))
		if err != nil {
			t.Errorf("%s: %v", c.Kind, err)
			continue
		}
		ttl := c.TTL
		if ttl == 0 {
			ttl = time.Hour
		}
		if p.Kind != c.Kind || p.Subject != c.Subject || !p.MayUseProject("demo") || p.MayUseProject("other") ||
			strings.Join(p.Roles, " ") != c.Role || strings.Join(p.Scopes, " ") != c.Scope ||
			!p.Expires.Equal(time.Unix(1_800_000_000, 0).Add(ttl)) {
			t.Errorf("%+v became %+v", c, p)
		}
	}
	if a, b := mint(t, i, issuer.Claims{}), mint(t, i, issuer.Claims{}); a == b {
		t.Error("two tokens are the same: their ids should differ")
	}
}

func TestKeysStayAcrossProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "keys")
	token := mint(t, open(t, dir), issuer.Claims{Kind: auth.Player, Subject: "p", Project: "demo"})
	again := open(t, dir)
	if _, err := verifier(t, at(1_800_000_000), again.Trust()).Verify(t.Context(), token); err != nil {
		t.Error(err)
	}
	stranger := open(t, t.TempDir())
	_, err := verifier(t, at(1_800_000_000), stranger.Trust()).Verify(t.Context(), token)
	if problem.KindOf(err) != problem.Unauthenticated {
		t.Errorf("another folder's token: %v", err)
	}
}

func TestRaceForTheFirstKey(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	tokens := make([]string, 16)
	for n := range tokens {
		wg.Go(func() {
			i, err := issuer.Open(dir, at(1_800_000_000))
			if err != nil {
				t.Error(err)
				return
			}
			tokens[n], _ = i.Mint(issuer.Claims{Kind: auth.Player, Subject: fmt.Sprint("p", n), Project: "demo"})
		})
	}
	wg.Wait()
	v := verifier(t, at(1_800_000_000), open(t, dir).Trust())
	for n, token := range tokens {
		if _, err := v.Verify(t.Context(), token); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 {
		t.Errorf("the folder holds %v", left)
	}
}

func TestPrivateKeyIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	open(t, dir)
	for name, want := range map[string]fs.FileMode{"": 0o700 | fs.ModeDir, "issuer.jwk": 0o600, "jwks.json": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%q has mode %v, want %v", name, info.Mode(), want)
		}
	}
	public, err := os.ReadFile(filepath.Join(dir, "jwks.json"))
	if err != nil || strings.Contains(string(public), `"d"`) {
		t.Error("the public key set holds the private key")
	}
}

func TestBrokenKeyFile(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	path := filepath.Join(dir, "issuer.jwk")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-10], 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = issuer.Open(dir, at(0))
	if want := "issuer: " + path + " holds no key; remove it to get a new one"; fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestKeySetOverHTTP(t *testing.T) {
	i := open(t, t.TempDir())
	e := web.New(quiet, web.Options{})
	i.Routes(e)
	server := httptest.NewServer(e)
	defer server.Close()
	from := i.Trust()
	from.JWKS = server.URL + "/.well-known/jwks.json"
	token := mint(t, i, issuer.Claims{Kind: auth.Player, Subject: "p", Project: "demo"})
	if _, err := verifier(t, at(1_800_000_000), from).Verify(t.Context(), token); err != nil {
		t.Error(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, from.JWKS, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if got := res.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
}

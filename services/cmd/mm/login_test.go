package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/services/internal/edge/issuer"
)

// identity is a small identity provider: discovery, device authorization, refreshed tokens that are good once, and
// revocation. It signs with the key that the service trusts.
type identity struct {
	*httptest.Server

	mu       sync.Mutex
	tokens   *issuer.Issuer
	ttl      time.Duration // of its tokens
	pending  int           // how often it says that the user has not answered
	denied   bool
	opaque   bool // its access tokens are no JWTs
	refresh  string
	issued   int
	revoked  []string
	requests []url.Values
	issuer   string
}

func newIdentity(t *testing.T, data string) *identity {
	t.Helper()
	tokens, err := issuer.Open(data, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	p := &identity{tokens: tokens, ttl: time.Hour}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"issuer": p.issuer, "device_authorization_endpoint": p.URL + "/device",
			"token_endpoint": p.URL + "/token", "revocation_endpoint": p.URL + "/revoke"})
	})
	mux.HandleFunc("POST /device", p.device)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("POST /revoke", func(_ http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.revoked = append(p.revoked, r.PostFormValue("token"))
	})
	p.Server = httptest.NewServer(mux)
	p.issuer = p.URL
	t.Cleanup(p.Close)
	return p
}

func (p *identity) device(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = r.ParseForm()
	p.requests = append(p.requests, r.PostForm)
	w.Header().Set("Content-Type", "application/json")
	answer(w, map[string]any{"device_code": "device-1", "user_code": "ABCD-EFGH", "verification_uri": p.URL + "/enter",
		"expires_in": 600, "interval": 1})
}

func (p *identity) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = r.ParseForm()
	w.Header().Set("Content-Type", "application/json")
	refuse := func(code string) {
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]string{"error": code})
	}
	switch grant := r.PostForm.Get("grant_type"); {
	case grant == "refresh_token" && (p.refresh == "" || r.PostForm.Get("refresh_token") != p.refresh):
		refuse("invalid_grant")
		return
	case grant == "refresh_token":
	case r.PostForm.Get("device_code") != "device-1":
		refuse("invalid_grant")
		return
	case p.denied:
		refuse("access_denied")
		return
	case p.pending > 0:
		p.pending--
		refuse("authorization_pending")
		return
	}
	token, err := p.tokens.Mint(issuer.Claims{Kind: "developer", Subject: "olga", Project: "demo", Role: "Owner",
		TTL: p.ttl})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	p.issued++
	p.refresh = fmt.Sprint("refresh-", p.issued)
	out := map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(p.ttl.Seconds()),
		"refresh_token": p.refresh}
	if p.opaque {
		out["access_token"], out["id_token"] = "opaque", token
	}
	answer(w, out)
}

func TestLogin(t *testing.T) {
	shell, service := newShell(t), newService(t)
	p := newIdentity(t, shell.data)
	shell.run("login", "--issuer", p.URL, "--client-id", "mm").expect(2, "", "mm: a login is kept with a context")
	shell.run("context", "set", "staging", "--url", service.url).expect(0, "staging", "")
	shell.run("login").expect(2, "", "mm: --issuer and --client-id are required for the first login")
	p.pending = 1
	got := shell.run("login", "--issuer", p.URL, "--client-id", "mm", "--audience", "matchmaker")
	got.expect(0, "context      staging\n", "mm: open "+p.URL+"/enter and enter the code ABCD-EFGH\n")
	if r := p.requests[0]; r.Get("client_id") != "mm" || r.Get("scope") != "openid offline_access" ||
		r.Get("audience") != "matchmaker" {
		t.Errorf("asked for %v", r)
	}
	t.Chdir(t.TempDir()) // without a key to make tokens with
	shell.run("function", "list").expect(0, "", "has no functions")
	if p.issued != 1 {
		t.Errorf("%d tokens were issued, want the one of the login", p.issued)
	}
	// An old token is renewed, and what renews it is renewed too.
	shell.now = shell.now.Add(59 * time.Minute)
	for n := 2; n <= 3; n++ {
		shell.run("function", "list").expect(0, "", "has no functions")
		if p.issued != n {
			t.Errorf("%d tokens were issued, want %d", p.issued, n)
		}
		shell.now = shell.now.Add(3 * time.Hour)
	}
	shown := shell.run("context", "show", "staging", "-o", "json")
	shown.expect(0, "login at "+p.URL, "")
	if strings.Contains(shown.out, "refresh-") {
		t.Errorf("it prints %s", shown.out)
	}
	shell.run("logout").expect(0, "logged out  staging\n", "")
	if len(p.revoked) != 1 || p.revoked[0] != "refresh-3" {
		t.Errorf("revoked %v", p.revoked)
	}
	shell.run("logout").expect(0, "", "mm: not logged in: nothing was forgotten\n")
	shell.run("function", "list").expect(1, "", `mm: the login has ended, log in again: "mm login --context staging"`)
	shell.run("login").expect(0, "staging", "ABCD-EFGH") // as before
	p.mu.Lock()
	p.refresh = "another"
	p.mu.Unlock()
	shell.now = shell.now.Add(2 * time.Hour)
	shell.run("function", "list").expect(1, "", `mm: the login has ended, log in again`)
}

func TestLoginThatFails(t *testing.T) {
	shell, service := newShell(t), newService(t)
	p := newIdentity(t, shell.data)
	shell.run("context", "set", "staging", "--url", service.url).expect(0, "staging", "")
	login := func() result { return shell.run("login", "--issuer", p.URL, "--client-id", "mm") }
	p.denied = true
	login().expect(1, "", "mm: the identity provider refused: access_denied\n")
	p.denied, p.issuer = false, "https://other.example.com"
	login().expect(1, "", "is the document of another issuer, https://other.example.com")
	shell.run("login", "--issuer", service.url, "--client-id", "mm").
		expect(1, "", "is no discovery document (404 Not Found)")
	shell.run("login", "--issuer", "http://login.example.com", "--client-id", "mm").
		expect(1, "", "mm: http://login.example.com: https is needed")
	shell.run("login", "--issuer", "nowhere", "--client-id", "mm").expect(2, "", "is no URL")
	without := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(
			map[string]string{"issuer": "http://" + r.Host, "token_endpoint": "https://x.example/t"})
	}))
	t.Cleanup(without.Close)
	shell.run("login", "--issuer", without.URL, "--client-id", "mm").
		expect(1, "", "has no device authorization (RFC 8628)")
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"issuer":"http://`+r.Host+`","token_endpoint":"http://login.example.com/t"}`)
	}))
	t.Cleanup(plain.Close)
	shell.run("login", "--issuer", plain.URL, "--client-id", "mm").
		expect(1, "", "mm: http://login.example.com: https is needed")
	if p.issued != 0 {
		t.Errorf("%d tokens were issued", p.issued)
	}
}

// Where access tokens are for the provider alone, services get the ID token.
func TestLoginWithOpaqueAccessTokens(t *testing.T) {
	shell, service := newShell(t), newService(t)
	p := newIdentity(t, shell.data)
	p.opaque = true
	shell.run("context", "set", "staging", "--url", service.url).expect(0, "staging", "")
	shell.run("login", "--issuer", p.URL, "--client-id", "mm").expect(0, "staging", "ABCD-EFGH")
	t.Chdir(t.TempDir())
	shell.run("function", "list").expect(0, "", "has no functions")
}

package console_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"matchmaker.dev/services/test/launch"
)

// newProvider starts an identity provider with a page that asks its user. Its access token is one that the system
// trusts.
func newProvider(t *testing.T, access string) *httptest.Server {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	var p *httptest.Server
	nonce := ""
	answer := func(w http.ResponseWriter, body any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body) // a client that is gone fails the test elsewhere
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]string{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize",
			"token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		public, err := jwk.Import(&key.PublicKey)
		must(t, err)
		must(t, public.Set(jwk.KeyIDKey, "one"))
		set := jwk.NewSet()
		must(t, set.AddKey(public))
		answer(w, set)
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		nonce = q.Get("nonce")
		back := q.Get("redirect_uri") + "?" + url.Values{"state": {q.Get("state")}, "code": {"c"}}.Encode()
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<html lang="en"><title>Provider</title><a href="` + back + `">I am Olga</a></html>`))
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		id := jwt.New()
		for name, value := range map[string]any{"iss": p.URL, "aud": "console", "sub": "olga", "nonce": nonce,
			"exp": time.Now().Add(time.Hour)} {
			must(t, id.Set(name, value))
		}
		headers := jws.NewHeaders()
		must(t, headers.Set("kid", "one"))
		text, err := jwt.Sign(id, jwt.WithKey(jwa.RS256(), key, jws.WithProtectedHeaders(headers)))
		must(t, err)
		answer(w, map[string]string{"access_token": access, "token_type": "Bearer", "id_token": string(text)})
	})
	p = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// tryProvider signs in at a provider, and comes back to the page that was asked for.
func tryProvider(t *testing.T, w *world) {
	access, err := w.Role(project, "Owner", "olga", time.Hour)
	must(t, err)
	p := newProvider(t, access)
	address, err := launch.Vacant(t.Context())
	must(t, err)
	s, err := launch.Start(t.Context(), os.Stderr, filepath.Join(*bin, "matchmaker"), "console", "--listen", address,
		"--api-url", w.URL, "--log-level", "error", "--console-url", "http://"+address, "--console-issuer", p.URL,
		"--console-client-id", "console")
	must(t, err)
	defer func() { must(t, s.Stop()) }()
	b := newBrowser(t)
	b.goTo(t, s.URL+"/console/"+project+"/audit")
	script, err := os.ReadFile(*axe)
	must(t, err)
	b.runAxe(t, "sign in", string(script))
	b.press(t, "Sign in with "+p.URL)
	b.press(t, "I am Olga")
	b.sees(t, "Audit")
	b.sees(t, "Sign out")
	b.goTo(t, s.URL+"/console/"+project+"/config?new=true") // what is done has the viewer as its author
	b.run(t, chromedp.SendKeys("#id", "olgas"), chromedp.Submit(".editor"))
	b.press(t, "Put it")
	b.sees(t, "Stored as")
	b.goTo(t, s.URL+"/console/"+project+"/audit?by=olga")
	b.until(t, `/olga.*config.*olgas/s.test(document.querySelector('tbody tr').textContent)`, "the author is in the audit")
	b.check(t)
}

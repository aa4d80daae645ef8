package console_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"matchmaker.dev/services/console"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/web"
)

// provider is an identity provider with the authorization code flow and PKCE. Its users agree at once.
type provider struct {
	*httptest.Server
	keys  [2]*rsa.PrivateKey // the first is in its key set
	codes map[string]url.Values
	// forge changes what it answers.
	forge struct {
		claims   map[string]any
		key      int
		refuses  string
		unsigned bool
		opaque   bool
	}
	exchanged int
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{codes: map[string]url.Values{}}
	for i := range p.keys {
		var err error
		p.keys[i], err = rsa.GenerateKey(rand.Reader, 2048)
		must(t, err)
	}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body) // a client that is gone fails the test elsewhere
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]string{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize",
			"token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		key, err := jwk.Import(&p.keys[0].PublicKey)
		must(t, err)
		must(t, key.Set(jwk.KeyIDKey, "one"))
		set := jwk.NewSet()
		must(t, set.AddKey(key))
		answer(w, 200, set)
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q, back := r.URL.Query(), url.Values{"state": {r.URL.Query().Get("state")}}
		if p.forge.refuses != "" {
			back.Set("error", p.forge.refuses)
		} else {
			code := rand.Text()
			p.codes[code] = q
			back.Set("code", code)
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		p.exchanged++
		q, known := p.codes[r.FormValue("code")]
		delete(p.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !known || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) ||
			q.Get("code_challenge_method") != "S256" || r.FormValue("client_id") != q.Get("client_id") ||
			r.FormValue("redirect_uri") != q.Get("redirect_uri") || r.FormValue("grant_type") != "authorization_code" {
			answer(w, 400, map[string]string{"error": "invalid_grant"})
			return
		}
		id := p.sign(t, q.Get("nonce"))
		access := id
		if p.forge.opaque {
			access = "opaque"
		}
		answer(w, 200, map[string]any{"access_token": access, "token_type": "Bearer", "id_token": id})
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// sign makes an ID token.
func (p *provider) sign(t *testing.T, nonce string) string {
	t.Helper()
	token := jwt.New()
	for name, value := range map[string]any{"iss": p.URL, "aud": "console", "sub": "olga", "nonce": nonce,
		"exp": time.Now().Add(time.Hour), "project": "demo", "role": "Owner"} {
		must(t, token.Set(name, value))
	}
	for name, value := range p.forge.claims {
		if value == nil {
			must(t, token.Remove(name))
			continue
		}
		must(t, token.Set(name, value))
	}
	if p.forge.unsigned {
		text, err := jwt.NewSerializer().Serialize(token)
		must(t, err)
		return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." +
			base64.RawURLEncoding.EncodeToString(text) + "."
	}
	headers := jws.NewHeaders()
	must(t, headers.Set("kid", "one"))
	text, err := jwt.Sign(token, jwt.WithKey(jwa.RS256(), p.keys[p.forge.key], jws.WithProtectedHeaders(headers)))
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// signedIn is a viewer of a console whose API believes the provider.
type signedIn struct {
	http.Client
	*provider
	url     string
	handler http.Handler
}

func startWithProvider(t *testing.T) *signedIn {
	t.Helper()
	s := &signedIn{provider: newProvider(t)}
	verifier, err := auth.New(auth.Options{Log: slog.New(slog.DiscardHandler), Issuers: []auth.Issuer{{Issuer: s.URL,
		JWKS: s.URL + "/keys", Audiences: []string{"console"}, Kinds: []auth.Kind{auth.Developer},
		Claims: auth.Claims{Project: "project", Role: "role"}}}})
	must(t, err)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, err := verifier.Verify(r.Context(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"title":"Unauthorized","detail":"the token is not good"}`)
			return
		}
		_, _ = io.WriteString(w, `{"configs":[]}`)
	}))
	t.Cleanup(api.Close)
	server := httptest.NewUnstartedServer(nil)
	s.url = "http://" + server.Listener.Addr().String()
	part, err := console.New(console.Options{Log: slog.New(slog.DiscardHandler), Now: time.Now,
		API: func() string { return api.URL }, Settings: console.Settings{URL: api.URL, Session: time.Hour, Viewers: 8,
			Issuer: s.URL, ClientID: "console", Public: s.url, Scope: "openid"}})
	must(t, err)
	e := web.New(slog.New(slog.DiscardHandler), web.Options{})
	part.Routes(e)
	server.Config.Handler, s.handler = e, e
	server.Start()
	t.Cleanup(server.Close)
	s.Jar, err = cookiejar.New(nil)
	must(t, err)
	s.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return s
}

func (s *signedIn) get(t *testing.T, address string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	must(t, err)
	res, err := s.Do(req)
	must(t, err)
	defer func() { must(t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	must(t, err)
	return res, string(text)
}

// begin goes to the provider, and returns where it sends the viewer back to.
func (s *signedIn) begin(t *testing.T) string {
	t.Helper()
	res, text := s.get(t, s.url+"/console/-/provider?project=demo&to=/console/demo/audit")
	_, to, found := strings.Cut(res.Header.Get("Refresh"), "url=")
	if !found || !strings.HasPrefix(to, s.URL+"/authorize?") || !strings.Contains(text, "Go on to") {
		t.Fatalf("%d %v %s", res.StatusCode, res.Header, text)
	}
	res, _ = s.get(t, to)
	return res.Header.Get("Location")
}

func TestViewersSignInAtAProvider(t *testing.T) {
	s := startWithProvider(t)
	if _, text := s.get(t, s.url+"/console/-/login"); !strings.Contains(text, "Sign in with "+s.URL) {
		t.Error("the login does not name the provider")
	}
	for _, opaque := range []bool{false, true} {
		s.forge.opaque = opaque
		back := s.begin(t)
		res, text := s.get(t, back)
		if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "/console/demo/audit" {
			t.Fatalf("%d %v %s", res.StatusCode, res.Header, text)
		}
		if again, _ := s.get(t, back); again.StatusCode != http.StatusForbidden {
			t.Errorf("the answer is good again: %d", again.StatusCode)
		}
		if res, _ := s.get(t, s.url+"/console/demo/configs"); res.StatusCode == http.StatusSeeOther {
			t.Error("there is no session")
		}
	}
}

// Browsers take no Secure cookie over plain HTTP: a gateway on the viewer's machine has no TLS.
func TestCookiesAreSecureButOnTheViewersMachine(t *testing.T) {
	handler := startWithProvider(t).handler
	for address, secure := range map[string]bool{
		"http://localhost:8080": false, "http://127.0.0.1:8080": false, "http://[::1]:8080": false,
		"https://console.example.com": true, "http://localhost.example.com": true, "http://10.0.0.7:8080": true,
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, address+"/console/-/provider?project=demo", nil)
		r.RemoteAddr = "10.0.0.7:1234" // of a gateway
		handler.ServeHTTP(w, r)
		if cookies := w.Result().Cookies(); len(cookies) != 1 || cookies[0].Secure != secure {
			t.Errorf("%s: %v", address, cookies)
		}
	}
}

// Whatever an answer lacks, no session begins.
func TestBadAnswersOfAProviderBeginNoSession(t *testing.T) {
	s := startWithProvider(t)
	refused := func(name, back, want string, status int) {
		t.Helper()
		res, text := s.get(t, back)
		if res.StatusCode != status || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s", name, res.StatusCode, text)
		}
		if res, _ := s.get(t, s.url+"/console/demo/configs"); res.StatusCode != http.StatusSeeOther {
			t.Fatalf("%s: there is a session", name)
		}
	}
	const bad = "no token that is good"
	for name, claims := range map[string]map[string]any{
		"another nonce": {"nonce": "x"}, "no nonce": {"nonce": nil}, "another client": {"aud": "x"}, "no end": {"exp": nil},
		"another issuer": {"iss": "https://other.example.com"}, "ended": {"exp": time.Now().Add(-time.Hour)},
	} {
		s.forge.claims = claims
		refused(name, s.begin(t), bad, http.StatusForbidden)
	}
	s.forge.claims, s.forge.key = nil, 1
	refused("another key", s.begin(t), bad, http.StatusForbidden)
	s.forge.key, s.forge.unsigned = 0, true
	refused("no signature", s.begin(t), bad, http.StatusForbidden)
	s.forge.unsigned = false
	s.forge.claims = map[string]any{"project": "other"} // the API says no
	s.forge.claims["role"] = "Guest"
	s.forge.claims["sub"] = ""
	refused("no subject", s.begin(t), "does not take this token", http.StatusUnauthorized)
	s.forge.claims = nil

	s.forge.refuses = "access_denied"
	refused("a refusal", s.begin(t), "refused the login: access_denied", http.StatusForbidden)
	s.forge.refuses = ""
	before := s.exchanged
	for _, change := range []string{"&state=x", "&state="} {
		back := strings.Replace(s.begin(t), "state=", "old=", 1) + change
		refused("another state", back, "was not begun here", http.StatusForbidden)
	}
	refused("another provider", s.begin(t)+"&iss=https://other.example.com", "another identity provider",
		http.StatusForbidden)
	mine := s.begin(t)
	s.Jar, _ = cookiejar.New(nil) // the answer is opened in another browser
	refused("another browser", mine, "was not begun here", http.StatusForbidden)
	refused("no cookie", s.url+"/console/-/callback?state=x&code=y", "was not begun here", http.StatusForbidden)
	if s.exchanged != before {
		t.Errorf("the provider was asked %d times for codes of nobody", s.exchanged-before)
	}
	// A code that another login got does not help: its verifier is another.
	s.begin(t)
	other := ""
	for code := range s.codes {
		other = code
	}
	back, err := url.Parse(s.begin(t))
	must(t, err)
	q := back.Query()
	q.Set("code", other)
	back.RawQuery = q.Encode()
	refused("another code", back.String(), bad, http.StatusForbidden)
	refused("no project", s.url+"/console/-/provider", "Enter a project", http.StatusBadRequest)
}

func TestNoProviderNoLoginAtIt(t *testing.T) {
	s := start(t, false)
	for _, page := range []string{"/console/-/provider?project=demo", "/console/-/callback?code=x&state=y"} {
		res, err := http.Get(s.URL + page)
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", page, res.StatusCode)
		}
	}
}

func TestSettingsOfAProviderAreChecked(t *testing.T) {
	good := console.Settings{URL: "https://api.example.com", Session: time.Hour, Viewers: 1,
		Issuer: "https://login.example.com", ClientID: "console", Public: "https://console.example.com", Scope: "openid"}
	must(t, good.Validate())
	for name, change := range map[string]func(*console.Settings){
		"no client": func(s *console.Settings) { s.ClientID = "" }, "no address": func(s *console.Settings) { s.Public = "" },
		"no issuer": func(s *console.Settings) { s.Issuer = "" }, "http": func(s *console.Settings) { s.Issuer = "http://a.b" },
		"no URL":      func(s *console.Settings) { s.Public = "console" },
		"no ID token": func(s *console.Settings) { s.Scope = "api" },
	} {
		s := good
		if change(&s); s.Validate() == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}

package party_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/party"
)

// routes are the players' routes, of a party that does not exist.
var routes = map[string][]string{
	"":                {"POST", "GET", "HEAD"},
	"/members":        {"POST"},
	"/none":           {"GET", "HEAD", "DELETE"},
	"/none/events":    {"GET", "HEAD"},
	"/none/leader":    {"PUT"},
	"/none/code":      {"POST"},
	"/none/members/a": {"PUT", "DELETE"},
	"/none/search":    {"PUT", "DELETE"},
}

// from sends a request of a web page of an origin, with a player's token unless it is a preflight.
func (w *world) from(origin, method, at string, headers ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, at, http.NoBody)
	must(w.t, err)
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	if method != http.MethodOptions {
		token, err := w.tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: "ada", Project: "demo"})
		must(w.t, err)
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(w.t, err)
	must(w.t, res.Body.Close())
	return res
}

// lists reports whether a header of an answer has all words.
func lists(res *http.Response, header string, words ...string) bool {
	all := strings.Split(strings.ToLower(res.Header.Get(header)), ", ")
	return !slices.ContainsFunc(words, func(word string) bool { return !slices.Contains(all, strings.ToLower(word)) })
}

func TestBrowsersOfAllowedOrigins(t *testing.T) {
	const game, local, evil = "https://game.example", "http://localhost:8080", "https://evil.example"
	for setting, want := range map[string]map[string]string{
		"":                  {game: "", "": ""},
		game + ", " + local: {game: game, local: local, evil: "", "": ""},
		"*":                 {game: game, "null": "null"},
	} {
		w := startAt(t, nil, func(o *party.Options) { o.Origins, o.Settings.Rate = setting, 0 })
		for origin, allowed := range want {
			for path, methods := range routes {
				for _, method := range methods {
					res := w.from(origin, method, w.urls[0]+path)
					if res.StatusCode/100 != 4 {
						t.Errorf("%s %s gets %d", method, path, res.StatusCode)
					}
					w.checkOrigin(res, setting, origin, allowed)
					asked := w.from(origin, http.MethodOptions, w.urls[0]+path, "Access-Control-Request-Method", method,
						"Access-Control-Request-Headers", "authorization")
					w.checkPreflight(asked, method, allowed)
					w.checkOrigin(asked, setting, origin, allowed)
				}
			}
			// The studio's routes are for no page.
			at := strings.Replace(w.urls[0], "/parties", "/players/ada", 1)
			for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodOptions} {
				w.checkOrigin(w.from(origin, method, at), setting, origin, "")
			}
		}
	}
}

// checkOrigin wants an answer that browsers show to pages of an origin, or of none.
func (w *world) checkOrigin(res *http.Response, setting, origin, allowed string) {
	w.t.Helper()
	req := res.Request
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != allowed {
		w.t.Errorf("origins %q: %s %s from %q is for %q, want %q", setting, req.Method, req.URL, origin, got, allowed)
	}
	exposed := lists(res, "Access-Control-Expose-Headers", "ETag", "Location", "Preference-Applied", "RateLimit",
		"RateLimit-Policy", "Retry-After", "X-Correlation-Id")
	if exposed != (allowed != "") {
		w.t.Errorf("origins %q: %s %s from %q: %v", setting, req.Method, req.URL, origin, res.Header)
	}
}

// checkPreflight wants an answer after which browsers send a request, if its origin is allowed.
func (w *world) checkPreflight(res *http.Response, method, allowed string) {
	w.t.Helper()
	sent := lists(res, "Access-Control-Allow-Methods", method) &&
		lists(res, "Access-Control-Allow-Headers", "Authorization", "Baggage", "Cache-Control", "Content-Type",
			"If-None-Match", "Idempotency-Key",
			"Last-Event-ID", "Prefer", "X-Correlation-Id", "X-On-Behalf-Of") &&
		res.Header.Get("Access-Control-Max-Age") != ""
	if sent != (allowed != "") || allowed != "" && res.StatusCode != http.StatusNoContent {
		w.t.Errorf("a preflight for %s gets %d %v", method, res.StatusCode, res.Header)
	}
}

// A page may read how a party is, and wait until it changes.
func TestPagesReadParties(t *testing.T) {
	t.Parallel()
	const game = "https://game.example"
	w := startAt(t, nil, func(o *party.Options) { o.Origins = game })
	p := w.party("ada")
	res := w.from(game, http.MethodGet, w.urls[0]+"/"+p.ID)
	if res.StatusCode != http.StatusOK || res.Header.Get("ETag") == "" {
		t.Fatalf("got %d %v", res.StatusCode, res.Header)
	}
	w.checkOrigin(res, game, game, game)
	for _, weak := range []string{"", "W/"} {
		again := w.from(game, http.MethodGet, w.urls[0]+"/"+p.ID, "If-None-Match", weak+res.Header.Get("ETag"),
			"Prefer", "wait=1")
		if again.StatusCode != http.StatusNotModified || again.Header.Get("Preference-Applied") == "" {
			t.Errorf("got %d %v", again.StatusCode, again.Header)
		}
		w.checkOrigin(again, game, game, game)
	}
}

// A page may read why its request was refused, whichever step refused it.
func TestPagesReadRefusals(t *testing.T) {
	t.Parallel()
	const game = "https://game.example"
	w := startAt(t, nil, func(o *party.Options) { o.Origins = game })
	for status, ask := range map[int]func(*http.Request){
		http.StatusNotAcceptable:         func(r *http.Request) { r.Header.Set("Accept", "text/html") },
		http.StatusRequestEntityTooLarge: func(r *http.Request) { r.ContentLength = 64 << 10 },
		http.StatusMethodNotAllowed:      func(r *http.Request) { r.Method = http.MethodPatch },
		http.StatusUnauthorized:          func(*http.Request) {},
	} {
		body := strings.NewReader(strings.Repeat(" ", 64<<10))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.urls[0]+"/members", body)
		must(t, err)
		req.Header.Set("Origin", game)
		req.ContentLength = -1
		ask(req)
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != status {
			t.Errorf("got %d, want %d", res.StatusCode, status)
		}
		w.checkOrigin(res, game, game, game)
	}
}

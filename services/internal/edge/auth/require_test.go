package auth_test

import (
	"crypto"
	"crypto/elliptic"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/lestrrat-go/jwx/v3/jwa"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/web"
)

func TestRequire(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	gone := settings("http://127.0.0.1:1/jwks.json")
	gone.Issuer = "https://gone.example"
	v := newVerifier(t, c, settings(p.url), gone)
	var logged strings.Builder
	e := web.New(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})), web.Options{})
	who := func(c echo.Context) error { return c.JSON(http.StatusOK, auth.From(c).Subject) }
	e.GET(web.Base+"/tickets", who, v.Require(auth.Player, auth.Service))
	e.GET(web.Base+"/configs", who, v.Require(auth.Developer))
	e.GET(web.Base+"/events", who, v.RequireLook(auth.Developer))
	e.GET("/api/v2/backfill", who, v.Require(auth.Player))
	e.GET("/open", func(c echo.Context) error { return c.JSON(http.StatusOK, auth.From(c) == nil) })
	server := httptest.NewUnstartedServer(nil)
	server.Config = web.Server(e, slog.New(slog.DiscardHandler))
	server.Start()
	defer server.Close()

	token := func(over map[string]any) string {
		return sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"}, claims(c, over))
	}
	role := func(role string) map[string]any {
		return map[string]any{"kind": "developer", "org": map[string]any{"role": role}}
	}
	player := token(nil)
	const (
		tickets = "/demo/matchmaking/api/v1/tickets"
		configs = "/demo/matchmaking/api/v1/configs"
		events  = "/demo/matchmaking/api/v1/events"
		bare    = `Bearer realm="matchmaking"`
		invalid = bare + `, error="invalid_token", error_description="`
	)
	for name, tt := range map[string]struct {
		path          string
		authorization []string
		status        int
		challenge     string
		detail        string
	}{
		"good":                     {tickets, []string{"Bearer " + player}, 200, "", ""},
		"scheme in small letters":  {tickets, []string{"bearer " + player}, 200, "", ""},
		"scheme in capitals":       {tickets, []string{"BEARER  " + player}, 200, "", ""},
		"path without a project":   {"/api/v2/backfill", []string{"Bearer " + player}, 200, "", ""},
		"no authentication needed": {"/open", nil, 200, "", ""},
		"no token":                 {tickets, nil, 401, bare, "a bearer token is needed"},
		"empty header":             {tickets, []string{""}, 401, bare, "a bearer token is needed"},
		"scheme alone":             {tickets, []string{"Bearer"}, 401, bare, "a bearer token is needed"},
		"other scheme":             {tickets, []string{"Basic cGxheWVyOnB3"}, 401, bare, "a bearer token is needed"},
		"token without scheme":     {tickets, []string{player}, 401, bare, "a bearer token is needed"},
		"two headers": {tickets, []string{"Bearer " + player, "Bearer " + player}, 401,
			invalid + `more than one Authorization header"`, "more than one Authorization header"},
		"garbage": {tickets, []string{"Bearer garbage"}, 401, invalid + `the token is not a signed JWT"`,
			"the token is not a signed JWT"},
		"quotes in the token": {tickets, []string{`Bearer "x", error="none`}, 401,
			invalid + `the token is not a signed JWT"`, "the token is not a signed JWT"},
		"expired": {tickets, []string{"Bearer " + token(map[string]any{"exp": 1})}, 401, invalid + `the token has expired"`,
			"the token has expired"},
		"long": {tickets, []string{"Bearer " + strings.Repeat("a", 20<<10)}, 401, invalid + `the token is too long"`,
			"the token is too long"},
		"keys out of reach": {tickets, []string{"Bearer " + token(map[string]any{"iss": gone.Issuer})}, 503, "",
			"the keys to verify this token are not available"},
		"wrong kind": {configs, []string{"Bearer " + player}, 403, "", "this is not for player tokens"},
		"wrong project": {"/other" + strings.TrimPrefix(tickets, "/demo"), []string{"Bearer " + player}, 403, "",
			"the token is not for this project"},
		"project by another case": {"/Demo" + strings.TrimPrefix(tickets, "/demo"), []string{"Bearer " + player}, 403, "",
			"the token is not for this project"},
		"empty project": {strings.TrimPrefix(tickets, "/demo") + "", []string{"Bearer " + player}, 404, "",
			"this path does not exist"},
		"project of no letters": {"/" + strings.TrimPrefix(tickets, "/demo"), []string{"Bearer " + player}, 404, "",
			"this path does not exist"},
		"an invalid project name": {"/a%7Db" + strings.TrimPrefix(tickets, "/demo"),
			[]string{"Bearer " + token(map[string]any{"project": "a}b"})}, 404, "",
			"no project has such a name: 1 to 64 letters, digits, '.', '_' and '-', a letter or digit first"},
		"developer":                {configs, []string{"Bearer " + token(role("Owner"))}, 200, "", ""},
		"developer, small letters": {configs, []string{"Bearer " + token(role("manager"))}, 200, "", ""},
		"developer of another role": {configs, []string{"Bearer " + token(role("User"))}, 403, "",
			"the role Manager or Owner on the project is needed"},
		"developer without a role": {configs, []string{"Bearer " + token(map[string]any{"kind": "developer"})}, 403, "",
			"the role Manager or Owner on the project is needed"},
		"support where something may change": {configs, []string{"Bearer " + token(role("Support"))}, 403, "",
			"the role Support looks and changes nothing: the role Manager or Owner on the project is needed"},
		"support that looks": {events, []string{"Bearer " + token(role("support"))}, 200, "", ""},
		"a manager looks":    {events, []string{"Bearer " + token(role("Manager"))}, 200, "", ""},
		"a player looks":     {events, []string{"Bearer " + player}, 403, "", "this is not for player tokens"},
		"another role that looks": {events, []string{"Bearer " + token(role("User"))}, 403, "",
			"the role Manager, Owner or Support on the project is needed"},
		"support of another project looks": {"/other" + strings.TrimPrefix(events, "/demo"),
			[]string{"Bearer " + token(role("Support"))}, 403, "", "the token is not for this project"},
		"unknown path, no token": {"/demo/matchmaking/api/v1/nothing", nil, 404, "", "this path does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+tt.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Header["Authorization"] = tt.authorization
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			var problem struct{ Detail string }
			if tt.status != http.StatusOK {
				if err := json.Unmarshal(body, &problem); err != nil {
					t.Fatalf("%v: %s", err, body)
				}
			}
			if res.StatusCode != tt.status || problem.Detail != tt.detail || res.Header.Get("WWW-Authenticate") != tt.challenge {
				t.Errorf("%d %s\n%s", res.StatusCode, body, res.Header.Get("WWW-Authenticate"))
			}
		})
	}
	server.Close() // all requests are over, and logged
	if strings.Contains(logged.String(), player[:20]) || strings.Contains(logged.String(), "garbage") {
		t.Error("the log shows a token")
	}
}

func TestOwner(t *testing.T) {
	player := &auth.Principal{Kind: auth.Player, Subject: "p-1"}
	odd := &auth.Principal{Kind: auth.Player, Subject: "UTF-8''p"}
	acts := &auth.Principal{Kind: auth.Service, Subject: "svc", Scopes: []string{"x", auth.ScopeAct}}
	reads := &auth.Principal{Kind: auth.Service, Subject: "svc", Scopes: []string{auth.ScopeRead}}
	server := &auth.Principal{Kind: auth.Server, Subject: "srv", Scopes: []string{auth.ScopeAct}}
	for name, tt := range map[string]struct {
		p       *auth.Principal
		header  string
		present bool
		owner   string
		kind    problem.Code // Internal: none
	}{
		"player":                  {player, "", false, "p-1", good},
		"player, itself":          {player, "p-1", true, "p-1", good},
		"player, empty header":    {player, "", true, "", problem.Forbidden},
		"player, another":         {player, "p-2", true, "", problem.Forbidden},
		"player, other case":      {player, "P-1", true, "", problem.Forbidden},
		"service":                 {acts, "p-2", true, "p-2", good},
		"player, encoded":         {player, "UTF-8''%70-1", true, "p-1", good},
		"player, another encoded": {player, "UTF-8''p-2", true, "", problem.Forbidden},
		"player of such a name":   {odd, odd.Subject, true, odd.Subject, good},
		"such a name, encoded":    {odd, "utf-8''UTF-8%27%27p", true, odd.Subject, good},
		"service, raw":            {acts, "zoë", true, "zoë", good},
		"service, encoded":        {acts, "UTF-8''%e7%8E%8b+ zo%C3%AB%25", true, "王+ zoë%", good},
		"service, with language":  {acts, "utf-8'de'zo%C3%AB", true, "zoë", good},
		"service, one quote":      {acts, "UTF-8'zo", true, "", problem.Invalid},
		"service, nothing after":  {acts, "UTF-8''", true, "", problem.Invalid},
		"service, bad escape":     {acts, "UTF-8''a%2", true, "", problem.Invalid},
		"service, bad bytes":      {acts, "UTF-8''a%ff", true, "", problem.Invalid},
		"service, control":        {acts, "UTF-8''a%0Ab", true, "", problem.Invalid},
		"service, longest inside": {acts, "UTF-8''" + strings.Repeat("%78", 256), true, strings.Repeat("x", 256), good},
		"service names nobody":    {acts, "", false, "", problem.Invalid},
		"service, empty header":   {acts, "", true, "", problem.Invalid},
		"service, a control":      {acts, "a\x00b", true, "", problem.Invalid},
		"service, bad UTF-8":      {acts, "a\xffb", true, "", problem.Invalid},
		"service, longest":        {acts, strings.Repeat("x", 256), true, strings.Repeat("x", 256), good},
		"service, too long":       {acts, strings.Repeat("x", 257), true, "", problem.Invalid},
		"service that only reads": {reads, "p-2", true, "", problem.Forbidden},
		"server":                  {server, "p-2", true, "", problem.Forbidden},
	} {
		owner, err := auth.TicketOwner(tt.p, tt.header, tt.present)
		if owner != tt.owner || (err == nil) != (tt.kind == good) || err != nil && problem.KindOf(err) != tt.kind {
			t.Errorf("%s: %q, %v", name, owner, err)
		}
	}
	for name, tt := range map[string]struct {
		p     *auth.Principal
		owner string
		any   bool
		kind  problem.Code
	}{
		"player":          {player, "p-1", false, good},
		"service":         {acts, "", true, good},
		"reading service": {reads, "", true, good},
		"scopeless":       {&auth.Principal{Kind: auth.Service, Subject: "svc"}, "", false, problem.Forbidden},
		"server":          {server, "", false, problem.Forbidden},
	} {
		owner, any, err := auth.TicketReader(tt.p)
		if owner != tt.owner || any != tt.any || (err == nil) != (tt.kind == good) ||
			err != nil && problem.KindOf(err) != tt.kind {
			t.Errorf("%s: %q, %v, %v", name, owner, any, err)
		}
	}
}

func TestProjectOfThePrincipal(t *testing.T) {
	for want, projects := range map[string][]string{"demo": {"demo"}, "": {"a", "b"}, "-": {"*"}, "--": nil} {
		p := &auth.Principal{Projects: projects}
		got, one := p.Project()
		if one != (want == "demo") || one && got != want {
			t.Errorf("%v: %q, %v", projects, got, one)
		}
	}
}

// TestVerifyAllocatesLittle: a remembered token costs nothing, however it is signed, and a login storm is of new ones.
func TestVerifyAllocatesLittle(t *testing.T) {
	c, p := newClock(), newProvider(t)
	bounds := map[int]float64{1 << 20: 0, 1: 60} // the second remembers none
	race := debug.BuildSetting{Key: "-race", Value: "true"}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, race) {
		delete(bounds, 1) // pools lose a quarter of what they get
	}
	for alg, key := range map[jwa.SignatureAlgorithm]crypto.Signer{
		jwa.EdDSA(): newEd25519(t), jwa.ES256(): newECDSA(t, elliptic.P256()), jwa.RS256(): newRSA(t, 2048),
	} {
		p.add(t, alg.String(), key, nil)
		token := sign(t, alg, key, map[string]any{"kid": alg.String()}, claims(c, nil))
		for size, most := range bounds {
			v, err := auth.New(auth.Options{Issuers: []auth.Issuer{settings(p.url)}, Now: c.now, CacheBytes: size,
				Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			if n := testing.AllocsPerRun(100, func() { _, err = v.Verify(t.Context(), token) }); n > most || err != nil {
				t.Errorf("%s: %v allocations, want at most %v, %v", alg, n, most, err)
			}
		}
	}
}

// BenchmarkVerify is what a token costs by its signature, one that is remembered and one that is new.
func BenchmarkVerify(b *testing.B) {
	c := newClock()
	for alg, key := range map[jwa.SignatureAlgorithm]crypto.Signer{
		jwa.EdDSA(): newEd25519(b), jwa.ES256(): newECDSA(b, elliptic.P256()), jwa.RS256(): newRSA(b, 2048),
	} {
		keys := setOf(b, "one", key)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(keys)
		}))
		defer server.Close()
		token := sign(b, alg, key, map[string]any{"kid": "one"}, claims(c, nil))
		for name, size := range map[string]int{"remembered": 1 << 20, "new": 1} {
			v, err := auth.New(auth.Options{Issuers: []auth.Issuer{settings(server.URL)}, Now: c.now,
				Log: slog.New(slog.DiscardHandler), CacheBytes: size})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(alg.String()+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := v.Verify(b.Context(), token); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

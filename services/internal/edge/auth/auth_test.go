package auth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lestrrat-go/jwx/v3/jwa"
	"github.com/lestrrat-go/jwx/v3/jwk"
	"github.com/lestrrat-go/jwx/v3/jws"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
)

// clock is a time that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Unix(1_800_000_000, 0)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// provider is an identity provider: keys, and a real server for their public halves.
type provider struct {
	url     string
	mu      sync.Mutex
	set     jwk.Set
	raw     []any // keys that jwx would not make
	mark    string
	down    bool
	fetches int
	keys    map[string]crypto.Signer
}

func newProvider(t *testing.T) *provider {
	p := &provider{set: jwk.NewSet(), keys: map[string]crypto.Signer{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.fetches++
		if p.down {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		all := []any{}
		for n := range p.set.Len() {
			k, _ := p.set.Key(n)
			all = append(all, k)
		}
		_, _ = io.WriteString(w, p.mark)
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": append(all, p.raw...)})
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *provider) add(t *testing.T, kid string, signer crypto.Signer, members map[string]any) {
	t.Helper()
	public, err := jwk.Import(signer.Public())
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(t, kid, public, members)
	p.keys[kid] = signer
}

func (p *provider) put(t *testing.T, kid string, key jwk.Key, members map[string]any) {
	t.Helper()
	if kid != "" {
		members = merge(map[string]any{jwk.KeyIDKey: kid}, members)
	}
	for name, value := range members {
		if err := key.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.set.AddKey(key); err != nil {
		t.Fatal(err)
	}
}

func (p *provider) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *provider) fetched() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetches
}

func merge(base, over map[string]any) map[string]any {
	all := map[string]any{}
	for _, m := range []map[string]any{base, over} {
		for k, v := range m {
			if all[k] = v; v == nil {
				delete(all, k)
			}
		}
	}
	return all
}

// sign makes a token of any header and claims; those given as nil are left out.
func sign(t testing.TB, alg jwa.SignatureAlgorithm, key any, header, claims map[string]any) string {
	t.Helper()
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	headers := jws.NewHeaders()
	for name, value := range header {
		if err := headers.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	token, err := jws.Sign(text, jws.WithKey(alg, key, jws.WithProtectedHeaders(headers)))
	if err != nil {
		t.Fatal(err)
	}
	return string(token)
}

func newEd25519(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newECDSA(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newRSA(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// settings trust the provider for everything, in the usual claims.
func settings(jwks string) auth.Issuer {
	return auth.Issuer{
		Issuer: "https://id.example", JWKS: jwks, Audiences: []string{"matchmaker"},
		Kinds:  []auth.Kind{auth.Player, auth.Developer, auth.Service},
		Claims: auth.Claims{Kind: "kind", Project: "project", Role: "org.role", Scope: "scope"},
	}
}

// claims are good ones at the clock's time.
func claims(c *clock, over map[string]any) map[string]any {
	at := c.now().Unix()
	return merge(map[string]any{
		"iss": "https://id.example", "aud": "matchmaker", "sub": "player-1",
		"iat": at, "nbf": at, "exp": at + 3600, "kind": "player", "project": "demo",
	}, over)
}

func newVerifier(t testing.TB, c *clock, issuers ...auth.Issuer) *auth.Verifier {
	t.Helper()
	v, err := auth.New(auth.Options{Issuers: issuers, Now: c.now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func wantRefused(t *testing.T, v *auth.Verifier, token, reason string) {
	t.Helper()
	p, err := v.Verify(t.Context(), token)
	if problem.KindOf(err) != problem.Unauthenticated {
		t.Fatalf("principal %+v, error %v", p, err)
	}
	if err.Error() != reason {
		t.Errorf("got %q, want %q", err, reason)
	}
}

func TestNewChecksSettings(t *testing.T) {
	good := settings("jwks.json")
	for _, test := range []struct {
		want  string
		spoil func(*auth.Issuer)
	}{
		{"issuers[1]: issuer: missing", func(i *auth.Issuer) { i.Issuer = "" }},
		{`issuers[1]: issuer "https://id.example" is configured twice`, func(*auth.Issuer) {}},
		{"issuers[1]: jwks: missing: a URL or a file is needed", func(i *auth.Issuer) { i.JWKS = "" }},
		{"issuers[1]: audiences: missing: without one, tokens meant for other services would be good here",
			func(i *auth.Issuer) { i.Audiences = nil }},
		{"issuers[1]: kinds: missing: one or more of [player developer server service]",
			func(i *auth.Issuer) { i.Kinds = nil }},
		{`issuers[1]: kinds: "admin" is none of [player developer server service]`,
			func(i *auth.Issuer) { i.Kinds = []auth.Kind{"admin"} }},
		{"issuers[1]: claims.kind: missing: the issuer has several kinds", func(i *auth.Issuer) { i.Claims.Kind = "" }},
		{"issuers[1]: claims.project: missing, and neither projects nor anyProject says which projects its tokens are for",
			func(i *auth.Issuer) { i.Claims.Project = "" }},
		{"issuers[1]: claims.match, claims.backfill: missing: a server could touch more than its own backfill tickets",
			func(i *auth.Issuer) { i.Issuer = auth.ServerIssuer }},
		{`issuers[1]: projects: "*" is said with anyProject`, func(i *auth.Issuer) { i.Projects = []string{"*"} }},
	} {
		bad := settings("jwks.json")
		test.spoil(&bad)
		_, err := auth.New(auth.Options{Issuers: []auth.Issuer{good, bad}, Log: slog.New(slog.DiscardHandler)})
		if fmt.Sprint(err) != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
}

func TestGoodTokens(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	p.add(t, "p256", newECDSA(t, elliptic.P256()), map[string]any{jwk.AlgorithmKey: jwa.ES256()})
	p.add(t, "p384", newECDSA(t, elliptic.P384()), nil)
	p.add(t, "p521", newECDSA(t, elliptic.P521()), nil)
	p.add(t, "old", newEd25519(t), map[string]any{jwk.AlgorithmKey: jwa.EdDSA()})
	p.add(t, "new", newEd25519(t), map[string]any{jwk.AlgorithmKey: jwa.EdDSAEd25519()})
	p.add(t, "rsa", newRSA(t, 2048), map[string]any{jwk.KeyUsageKey: jwk.ForSignature})
	v := newVerifier(t, c, settings(p.url))
	for _, tt := range []struct {
		kid string
		alg jwa.SignatureAlgorithm
	}{
		{"ed", jwa.EdDSA()}, {"ed", jwa.EdDSAEd25519()}, {"old", jwa.EdDSAEd25519()}, {"new", jwa.EdDSA()},
		{"new", jwa.EdDSAEd25519()}, {"p256", jwa.ES256()}, {"p384", jwa.ES384()}, {"p521", jwa.ES512()},
		{"rsa", jwa.RS256()}, {"rsa", jwa.RS384()}, {"rsa", jwa.RS512()}, {"rsa", jwa.PS256()}, {"rsa", jwa.PS384()},
		{"rsa", jwa.PS512()},
	} {
		token := sign(t, tt.alg, p.keys[tt.kid], map[string]any{"kid": tt.kid}, claims(c, nil))
		for range 2 { // the second comes from the cache
			got, err := v.Verify(t.Context(), token)
			if err != nil {
				t.Errorf("%s: %v", tt.alg, err)
			} else if got.Subject != "player-1" || got.Kind != auth.Player || !got.MayUseProject("demo") ||
				got.MayUseProject("other") || !got.Expires.Equal(c.now().Add(time.Hour)) {
				t.Errorf("%s: %+v", tt.alg, got)
			}
		}
	}
	if n := p.fetched(); n != 1 {
		t.Errorf("the key set was fetched %d times", n)
	}
}

func TestClaims(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	usual := settings(p.url)
	bounded := usual
	bounded.Projects = []string{"demo", "second"}
	every := usual
	every.AnyProject = true
	projectless := bounded
	projectless.Claims.Project = ""
	for name, tt := range map[string]struct {
		issuer  auth.Issuer
		claims  map[string]any
		may     []string
		mayNot  []string
		refused string
	}{
		"list of projects": {usual, map[string]any{"project": []string{"a", "b"}}, []string{"a", "b"},
			[]string{"demo", "*", ""}, ""},
		"no project": {usual, map[string]any{"project": nil}, nil, nil,
			"the token is for no project its issuer may speak for"},
		"project of another type": {usual, map[string]any{"project": 7}, nil, nil,
			"the token is for no project its issuer may speak for"},
		"empty project": {usual, map[string]any{"project": ""}, nil, nil,
			"the token is for no project its issuer may speak for"},
		"every project, not allowed": {usual, map[string]any{"project": "*"}, nil, nil,
			"the token is for no project its issuer may speak for"},
		"every project beside another": {usual, map[string]any{"project": []string{"*", "a"}}, []string{"a"},
			[]string{"b"}, ""},
		"every project, allowed": {every, map[string]any{"project": "*"}, []string{"a", "demo"}, nil, ""},
		"inside the issuer's bounds": {bounded, map[string]any{"project": []string{"second", "third"}}, []string{"second"},
			[]string{"third", "demo"}, ""},
		"outside the issuer's bounds": {bounded, map[string]any{"project": "third"}, nil, nil,
			"the token is for no project its issuer may speak for"},
		"projects of the settings": {projectless, map[string]any{"project": "third"}, []string{"demo", "second"},
			[]string{"third"}, ""},
		"several audiences":      {usual, map[string]any{"aud": []string{"x", "matchmaker"}}, []string{"demo"}, nil, ""},
		"no subject":             {usual, map[string]any{"sub": nil}, nil, nil, "the token has no usable subject"},
		"subject with a control": {usual, map[string]any{"sub": "a\nb"}, nil, nil, "the token has no usable subject"},
		"no kind": {usual, map[string]any{"kind": nil}, nil, nil,
			"the token is of a kind its issuer may not issue"},
		"kind that is not the issuer's": {usual, map[string]any{"kind": "server"}, nil, nil,
			"the token is of a kind its issuer may not issue"},
		"kind in a list": {usual, map[string]any{"kind": []string{"player"}}, nil, nil,
			"the token is of a kind its issuer may not issue"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVerifier(t, c, tt.issuer)
			token := sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"}, claims(c, tt.claims))
			if tt.refused != "" {
				wantRefused(t, v, token, tt.refused)
				return
			}
			got, err := v.Verify(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			for _, project := range tt.may {
				if !got.MayUseProject(project) {
					t.Errorf("may not act in %q: %v", project, got.Projects)
				}
			}
			for _, project := range tt.mayNot {
				if got.MayUseProject(project) {
					t.Errorf("may act in %q: %v", project, got.Projects)
				}
			}
		})
	}
}

func TestRolesAndScopes(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	i := settings(p.url)
	i.Claims.Scope = "https://example.com/scp" // a name with dots
	v := newVerifier(t, c, i)
	token := sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"}, claims(c, map[string]any{
		"org":                     map[string]any{"role": []string{"Owner", "Guest"}},
		"https://example.com/scp": []string{"matchmaking  matchmaking.read", "x"},
	}))
	got, err := v.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got.Roles, got.Scopes) != "[Owner Guest] [matchmaking matchmaking.read x]" {
		t.Errorf("roles %v, scopes %v", got.Roles, got.Scopes)
	}
}

// TestAudienceOfAnotherClaim: Cognito's access tokens have client_id in place of aud.
func TestAudienceOfAnotherClaim(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	i := settings(p.url)
	i.Claims.Audience = "client_id"
	v := newVerifier(t, c, i)
	token := func(over map[string]any) string {
		return sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"}, claims(c, over))
	}
	if _, err := v.Verify(t.Context(), token(map[string]any{"aud": nil, "client_id": "matchmaker"})); err != nil {
		t.Error(err)
	}
	for _, over := range []map[string]any{nil, {"client_id": "another"}, {"client_id": ""}, {"client_id": 7},
		{"aud": nil}} {
		wantRefused(t, v, token(over), "the token is for another audience")
	}
}

// TestPathsOfClaims: names may have dots, also names of objects on the way.
func TestPathsOfClaims(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	got, err := newVerifier(t, c, settings(p.url)).Verify(t.Context(),
		sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"}, claims(c, map[string]any{
			"skill":                         1,
			"game":                          map[string]any{"skill": 2, "v1.skill": 3, "text": "t"},
			"https://example.com/game":      map[string]any{"skill": 4, "mode.eu": map[string]any{"skill": 5}},
			"https://example.com/game.rank": 6,
			"a":                             map[string]any{"b": map[string]any{"c": 7}},
			"a.b":                           map[string]any{"d": 8},
			"a.b.e":                         9,
			"list":                          []any{1},
		})))
	if err != nil {
		t.Fatal(err)
	}
	set := got.ClaimSet()
	for path, want := range map[string]float64{
		"skill": 1, "game.skill": 2, "game.v1.skill": 3, "https://example.com/game.skill": 4,
		"https://example.com/game.mode.eu.skill": 5, "https://example.com/game.rank": 6, "a.b.c": 7, "a.b.d": 8, "a.b.e": 9,
	} {
		if n, present, ok := set.Number(path); n != want || !present || !ok {
			t.Errorf("%s: %v, %v, %v, want %v", path, n, present, ok, want)
		}
	}
	for _, path := range []string{"", ".", "none", "game.", "game..skill", "game.none", "a.b.none",
		"https://example.com/game.none", "https://example.com.skill"} {
		if n, present, _ := set.Number(path); present {
			t.Errorf("%q: %v is there", path, n)
		}
	}
	for _, path := range []string{"skill.x", "game.text.x", "list.0", "https://example.com/game.skill.x", "a.b.e.x"} {
		if _, present, ok := set.Number(path); !present || ok {
			t.Errorf("%s: goes through no object: %v, %v", path, present, ok)
		}
	}
}

// Tokens of single game servers name their match; what names it with anything else is no general token by that.
func TestServersOfTheirOwn(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	i := settings(p.url)
	i.Kinds = []auth.Kind{auth.Server}
	i.Claims = auth.Claims{Project: "project", Match: "m.id", Fleet: "fleet", Backfill: "backfill"}
	v := newVerifier(t, c, i)
	verify := func(over map[string]any) (*auth.Principal, error) {
		return v.Verify(t.Context(), sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"}, claims(c, over)))
	}
	own, err := verify(map[string]any{"m": map[string]any{"id": "m-1"}, "fleet": "eu", "backfill": "b-1"})
	if err != nil {
		t.Fatal(err)
	}
	general, err := verify(nil)
	if err != nil {
		t.Fatal(err)
	}
	if own.Match != "m-1" || own.Fleet != "eu" || own.Backfill != "b-1" ||
		general.Match+general.Fleet+general.Backfill != "" {
		t.Errorf("%+v, %+v", own, general)
	}
	for _, tt := range []struct {
		backfill, match string
		own             bool
	}{{"b-1", "", true}, {"b-2", "m-1", true}, {"b-2", "m-2", false}, {"b-2", "", false}, {"", "", false}} {
		if own.MayUseBackfill(tt.backfill, tt.match) != tt.own || !general.MayUseBackfill(tt.backfill, tt.match) {
			t.Errorf("backfill ticket %q of match %q: own %v, general %v", tt.backfill, tt.match,
				own.MayUseBackfill(tt.backfill, tt.match), general.MayUseBackfill(tt.backfill, tt.match))
		}
	}
	for _, odd := range []map[string]any{{"m": map[string]any{"id": 7}}, {"m": map[string]any{"id": ""}},
		{"m": map[string]any{"id": nil}}, {"m": ""}, {"m": []string{}}, {"fleet": []string{"eu"}}, {"backfill": true}} {
		if got, err := verify(odd); problem.KindOf(err) != problem.Unauthenticated {
			t.Errorf("%v: %+v, %v", odd, got, err)
		}
	}
}

// Some editors put a mark before what they save, and the server of a static file sends it.
func TestKeySetWithAByteOrderMark(t *testing.T) {
	w := newWorld(t)
	w.p.change(func() { w.p.mark = "\ufeff" })
	w.want("a set with a mark", w.verify("first"), good, 1)
}

func TestKeysFromFile(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	path := filepath.Join(t.TempDir(), "jwks.json")
	v := newVerifier(t, c, settings(path))
	token := sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"}, claims(c, nil))

	if _, err := v.Verify(t.Context(), token); problem.KindOf(err) != problem.Unavailable {
		t.Errorf("without the file: %v", err)
	}
	text, _ := json.Marshal(p.set)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c.add(10 * time.Second)
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Errorf("with the file: %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	c, p := newClock(), newProvider(t)
	p.add(t, "ed", newEd25519(t), nil)
	v := newVerifier(t, c, settings(p.url))
	tokens := make([]string, 20)
	for n := range tokens {
		tokens[n] = sign(t, jwa.EdDSA(), p.keys["ed"], map[string]any{"kid": "ed"},
			claims(c, map[string]any{"sub": fmt.Sprint("player-", n)}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _ = v.Run(ctx) })
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for n, token := range tokens {
				if got, err := v.Verify(ctx, token); err != nil || got.Subject != fmt.Sprint("player-", n) {
					t.Errorf("%d: %+v %v", n, got, err)
				}
			}
		})
	}
	clients.Wait()
	cancel()
	wg.Wait()
	if n := p.fetched(); n != 1 {
		t.Errorf("the key set was fetched %d times", n)
	}
}

func setOf(t testing.TB, kid string, signer crypto.Signer) jwk.Set {
	t.Helper()
	public, err := jwk.Import(signer.Public())
	if err != nil {
		t.Fatal(err)
	}
	if err := public.Set(jwk.KeyIDKey, kid); err != nil {
		t.Fatal(err)
	}
	set := jwk.NewSet()
	if err := set.AddKey(public); err != nil {
		t.Fatal(err)
	}
	return set
}

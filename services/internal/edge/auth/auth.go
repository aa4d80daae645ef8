// Package auth verifies bearer tokens (JWT) of the issuers that an installation trusts, and tells what their bearers
// may do. It never logs a token nor puts one into an error.
package auth

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/metric"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/wait"
)

// Kind says what sort of caller a token is for.
type Kind string

// The kinds of caller. Service is a game's own service that acts for players.
const (
	Player    Kind = "player"
	Developer Kind = "developer"
	Server    Kind = "server"
	Service   Kind = "service"
)

// ServerIssuer is the issuer of the tokens that game servers get with their allocation.
const ServerIssuer = "matchmaker-servers"

// Kinds are all kinds of caller.
func Kinds() []Kind { return []Kind{Player, Developer, Server, Service} }

// Issuer is one trusted issuer of tokens, as the settings have it.
type Issuer struct {
	// Issuer is the exact "iss" claim.
	Issuer string `json:"issuer" yaml:"issuer"`
	// JWKS is where its public keys are: an http(s) URL or the path of a file.
	JWKS string `json:"jwks" yaml:"jwks"`
	// Source gives the keys instead, for an issuer in the same process; JWKS is its name then.
	Source func() ([]byte, error) `json:"-" yaml:"-"`
	// Audiences are the accepted "aud" claims; Claims.Audience replaces them. A token needs one of them.
	Audiences []string `json:"audiences" yaml:"audiences"`
	// Kinds are the kinds of token it may issue. With a single kind and no claim for it, all its tokens are of that kind.
	Kinds []Kind `json:"kinds" yaml:"kinds"`
	// Claims say where in the token the service finds what it needs.
	Claims Claims `json:"claims" yaml:"claims"`
	// Projects bounds the projects it may speak for; empty is any. Without a project claim its tokens are good for all of
	// these.
	Projects []string `json:"projects" yaml:"projects"`
	// AnyProject lets its tokens name the project "*", or none at all, for every project.
	AnyProject bool `json:"anyProject" yaml:"anyProject"`
}

// Claims are paths into a token: a claim's name, or names joined by dots for members of objects. Audience, project,
// role and scope may be a string or a list of strings, the others a string.
type Claims struct {
	Kind string `json:"kind" yaml:"kind"`
	// Audience is where the audience is; empty is "aud".
	Audience string `json:"audience" yaml:"audience"`
	Project  string `json:"project" yaml:"project"`
	Role     string `json:"role" yaml:"role"`
	Scope    string `json:"scope" yaml:"scope"`
	// Match, Fleet and Backfill are of tokens that are issued to one game server: see Principal.
	Match    string `json:"match" yaml:"match"`
	Fleet    string `json:"fleet" yaml:"fleet"`
	Backfill string `json:"backfill" yaml:"backfill"`
}

// Options make a Verifier.
type Options struct {
	Issuers []Issuer
	Log     *slog.Logger
	// Now is the clock; nil is time.Now. Known reports whether the time is known yet: before, no token can be checked.
	// nil is always.
	Now   func() time.Time
	Known func() bool
	// CacheSize is how many verified tokens are remembered; 0 is 65,536. CacheBytes is what they may take; 0 is 64 MiB.
	CacheSize, CacheBytes int
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	issuers map[string]*trustedIssuer
	cache   *cache
	now     func() time.Time
	known   func() bool
}

// trustedIssuer is an issuer with its keys.
type trustedIssuer struct {
	Issuer
	keys *keySet
}

// transport is the usual one, with a clock that says whether certificates are valid.
func transport(now func() time.Time) http.RoundTripper {
	usual, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	usual = usual.Clone()
	usual.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, Time: now}
	usual.HTTP2 = wait.Pings()
	return usual
}

// New checks the settings and returns a verifier that has fetched nothing yet.
func New(o Options) (*Verifier, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Known == nil {
		o.Known = func() bool { return true }
	}
	o.CacheSize = cmp.Or(o.CacheSize, 1<<16)
	o.CacheBytes = cmp.Or(o.CacheBytes, 64<<20)
	v := &Verifier{
		issuers: map[string]*trustedIssuer{}, cache: newCache(o.CacheSize, o.CacheBytes), now: o.Now, known: o.Known,
	}
	asked := v.observe(o)
	for n, i := range o.Issuers {
		if err := i.check(); err != nil {
			return nil, fmt.Errorf("issuers[%d]: %w", n, err)
		}
		if v.issuers[i.Issuer] != nil {
			return nil, fmt.Errorf("issuers[%d]: issuer %q is configured twice", n, i.Issuer)
		}
		if plainRemote(i.JWKS) {
			o.Log.Warn("keys of an issuer are fetched without TLS: a man in the middle could issue tokens", "issuer", i.Issuer,
				"jwks", i.JWKS)
		}
		v.issuers[i.Issuer] = &trustedIssuer{Issuer: i, keys: newKeySet(i, o, asked)}
	}
	return v, nil
}

// observe makes the instruments, of which it returns the one that counts questions for keys.
func (v *Verifier) observe(o Options) metric.Int64Counter {
	o.Meter.ObservableGauge("matchmaker.tokens", "{token}",
		"Verified tokens that this process remembers, and the most that it does.",
		telemetry.Usage(func() (int, int) { n, _ := v.cache.usage(); return n, v.cache.size }))
	o.Meter.ObservableGauge("matchmaker.tokens.size", "By",
		"About how many bytes the remembered tokens take, and the most.",
		telemetry.Usage(func() (int, int) { _, n := v.cache.usage(); return n, v.cache.bytes }))
	return o.Meter.Counter("matchmaker.issuer.questions", "{question}",
		"Times that an issuer was asked for its keys, by outcome: ok or failed.")
}

func (i Issuer) check() error {
	switch {
	case i.Issuer == "":
		return fmt.Errorf("issuer: missing")
	case i.JWKS == "":
		return fmt.Errorf("jwks: missing: a URL or a file is needed")
	case len(i.Audiences) == 0:
		return fmt.Errorf("audiences: missing: without one, tokens meant for other services would be good here")
	case len(i.Kinds) == 0:
		return fmt.Errorf("kinds: missing: one or more of %v", Kinds())
	case len(i.Kinds) > 1 && i.Claims.Kind == "":
		return fmt.Errorf("claims.kind: missing: the issuer has several kinds")
	case i.Issuer == ServerIssuer && (i.Claims.Match == "" || i.Claims.Backfill == ""):
		return fmt.Errorf("claims.match, claims.backfill: missing: a server could touch more than its own backfill tickets")
	case i.Claims.Project == "" && len(i.Projects) == 0 && !i.AnyProject:
		return fmt.Errorf("claims.project: missing, and neither projects nor anyProject says which projects its tokens " +
			"are for")
	}
	for _, k := range i.Kinds {
		if !slices.Contains(Kinds(), k) {
			return fmt.Errorf("kinds: %q is none of %v", k, Kinds())
		}
	}
	if slices.Contains(i.Projects, everyProject) {
		return fmt.Errorf("projects: %q is said with anyProject", everyProject)
	}
	return nil
}

// plainRemote tells URLs that reach another machine without TLS.
func plainRemote(jwks string) bool {
	u, err := url.Parse(jwks)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return !strings.EqualFold(u.Hostname(), "localhost") && (ip == nil || !ip.IsLoopback())
}

// Run loads the keys of all issuers and keeps them fresh until ctx ends, so that requests rarely wait for an issuer,
// and withdrawn keys stop being good. Without it keys are loaded when a token needs them, and never dropped.
func (v *Verifier) Run(ctx context.Context) error {
	for range wait.Every(ctx, loadEvery) {
		for _, i := range v.issuers {
			i.keys.load(ctx, refreshEvery)
		}
	}
	return nil
}

// Ready reports whether the keys of every issuer were loaded at least once, and tries to load those that were not.
func (v *Verifier) Ready(ctx context.Context) error {
	for name, i := range v.issuers {
		i.keys.load(ctx, refreshEvery)
		if i.keys.keys.Load() == nil {
			return problem.New(problem.Unavailable, "the keys of issuer %s are not loaded", name)
		}
	}
	return nil
}

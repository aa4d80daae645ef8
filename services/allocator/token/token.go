// Package token issues the tokens that game servers call the service with. Each allocation has one, which its server
// gets together with the match. A token is valid for a limited time, and the server renews it while its allocation
// lives.
//
// The keys belong to the installation, not to an identity provider. Verifiers trust the tokens' issuer like any other,
// by the public keys that allocators serve at Path.
package token

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/platform/keyfile"
)

// Audience is the aud of the tokens.
const Audience = "matchmaker"

// Path is where the public keys are served, as a JSON Web Key Set.
const Path = "/.well-known/server-keys.json"

// Issuer issues tokens.
type Issuer struct {
	keys *keyfile.Keys
	now  func() time.Time
	ttl  time.Duration
}

// New returns an issuer whose tokens are valid for ttl.
func New(keys *keyfile.Keys, now func() time.Time, ttl time.Duration) *Issuer {
	return &Issuer{keys: keys, now: now, ttl: ttl}
}

// Server is the server that a token is for.
type Server struct {
	Project string
	// Allocation is the id of the server's allocation, provider.Ref.Allocation.
	Allocation string
	Match      string
	Fleet      string
	// Backfill is the backfill ticket that was made with the match, "" when there is none.
	Backfill string
}

// Mint returns a signed token, and when it expires.
func (i *Issuer) Mint(s Server) (signed string, expires time.Time, err error) {
	now := i.now()
	expires = now.Add(i.ttl).Truncate(time.Second)
	b := jwt.NewBuilder().
		Issuer(auth.ServerIssuer).Audience([]string{Audience}).Subject(s.Allocation).JwtID(rand.Text()).
		IssuedAt(now).NotBefore(now).Expiration(expires).
		Claim("kind", string(auth.Server)).Claim("project", s.Project).Claim("match", s.Match).Claim("fleet", s.Fleet)
	if s.Backfill != "" {
		b = b.Claim("backfill", s.Backfill)
	}
	token, err := b.Build()
	if err != nil {
		return "", time.Time{}, fmt.Errorf("server token: %w", err)
	}
	if signed, err = i.keys.Sign(token); err != nil {
		return "", time.Time{}, fmt.Errorf("server token: %w", err)
	}
	return signed, expires, nil
}

// Key is the id of the key that signs now.
func (i *Issuer) Key() string { return i.keys.Current() }

// TTL is how long a token is valid.
func (i *Issuer) TTL() time.Duration { return i.ttl }

// Trust makes a verifier of the same process accept the tokens.
func (i *Issuer) Trust() auth.Issuer {
	return auth.Issuer{
		Issuer: auth.ServerIssuer, JWKS: Path, Source: i.keys.Public,
		Audiences: []string{Audience}, Kinds: []auth.Kind{auth.Server},
		Claims: auth.Claims{Kind: "kind", Project: "project", Match: "match", Fleet: "fleet", Backfill: "backfill"},
	}
}

// Routes serves the public keys.
func (i *Issuer) Routes(e *echo.Echo) { i.keys.Serve(e, Path) }

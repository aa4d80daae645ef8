// Package token issues the tokens that game servers call the service with: one for each allocation, handed to the server
// together with its match. It is good for a while, and the server renews it for as long as its allocation lives.
//
// Its keys are the installation's, not those of an identity provider: whoever verifies tokens trusts them as an issuer like any other,
// by the public keys that allocators serve at Path.
package token

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/auth"
)

// Audience is the aud of the tokens.
const Audience = "matchmaker"

// Path is where the public keys are served, as a JSON Web Key Set.
const Path = "/.well-known/server-keys.json"

// Issuer issues tokens.
type Issuer struct {
	keys *Keys
	now  func() time.Time
	ttl  time.Duration
}

// New returns an issuer whose tokens are good for ttl.
func New(keys *Keys, now func() time.Time, ttl time.Duration) *Issuer {
	return &Issuer{keys: keys, now: now, ttl: ttl}
}

// Server is who a token is for.
type Server struct {
	Project string
	// Allocation is the id of the server's allocation, provider.Ref.Allocation.
	Allocation string
	Match      string
	Fleet      string
	// Backfill is the backfill ticket that was made with the match, "" when there is none.
	Backfill string
}

// claims are those of a token.
type claims struct {
	Issuer    string   `json:"iss"`
	Audience  []string `json:"aud"`
	Subject   string   `json:"sub"`
	ID        string   `json:"jti"`
	IssuedAt  int64    `json:"iat"`
	NotBefore int64    `json:"nbf"`
	Expires   int64    `json:"exp"`
	Kind      string   `json:"kind"`
	Project   string   `json:"project"`
	Match     string   `json:"match"`
	Fleet     string   `json:"fleet"`
	Backfill  string   `json:"backfill,omitempty"`
}

// Mint returns a signed token, and when it ends. There is one for each match: with a library for all kinds of tokens it took four
// times as long as the signature alone.
func (i *Issuer) Mint(s Server) (signed string, expires time.Time, err error) {
	now := i.now()
	expires = now.Add(i.ttl).Truncate(time.Second)
	signed, err = i.keys.signing().sign(claims{
		Issuer: auth.ServerIssuer, Audience: []string{Audience}, Subject: s.Allocation, ID: rand.Text(),
		IssuedAt: now.Unix(), NotBefore: now.Unix(), Expires: expires.Unix(),
		Kind: string(auth.Server), Project: s.Project, Match: s.Match, Fleet: s.Fleet, Backfill: s.Backfill,
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("server token: %w", err)
	}
	return signed, expires, nil
}

// TTL is how long a token is good.
func (i *Issuer) TTL() time.Duration { return i.ttl }

// Trust is the setting that makes a verifier of the same process take the tokens.
func (i *Issuer) Trust() auth.Issuer {
	return auth.Issuer{
		Issuer: auth.ServerIssuer, JWKS: Path, Source: i.keys.Public,
		Audiences: []string{Audience}, Kinds: []auth.Kind{auth.Server},
		Claims: auth.Claims{Kind: "kind", Project: "project", Match: "match", Fleet: "fleet", Backfill: "backfill"},
	}
}

// Routes serves the public keys. A verifier may keep them for a minute; it asks again for a key that it does not know.
func (i *Issuer) Routes(e *echo.Echo) {
	e.GET(Path, func(c echo.Context) error {
		text, err := i.keys.Public()
		if err != nil {
			return err
		}
		c.Response().Header().Set(echo.HeaderCacheControl, "public, max-age=60")
		return c.Blob(http.StatusOK, "application/jwk-set+json", text)
	})
}

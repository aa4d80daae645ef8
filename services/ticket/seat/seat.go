// Package seat issues seat passes. A pass says that a player has a seat in a match on a server. The player shows it to
// the server, which verifies it offline, with the public keys that are served at Path.
//
// The keys differ from the keys of game servers' tokens: a service that may issue the one may not issue the other.
package seat

import (
	"fmt"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"matchmaker.dev/services/internal/platform/keyfile"
)

// Issuer and Audience are the iss and the aud of passes. No other tokens have them.
const (
	Issuer   = "matchmaker-seats"
	Audience = "seat"
)

// Path is where the public keys are served, as a JSON Web Key Set.
const Path = "/.well-known/seat-keys.json"

// Passes issues seat passes.
type Passes struct {
	keys *keyfile.Keys
	now  func() time.Time
	ttl  time.Duration
}

// New returns passes that are good for ttl.
func New(keys *keyfile.Keys, now func() time.Time, ttl time.Duration) *Passes {
	return &Passes{keys: keys, now: now, ttl: ttl}
}

// Seat is what a pass is for.
type Seat struct {
	Player, Project, Ticket, Match, Connection string
	// Backfill is the backfill ticket of the running game that the player joins, "" for a new game.
	Backfill string
}

// Sign returns the pass of a seat.
func (p *Passes) Sign(s Seat) (string, error) {
	now := p.now()
	b := jwt.NewBuilder().
		Issuer(Issuer).Audience([]string{Audience}).Subject(s.Player).IssuedAt(now).Expiration(now.Add(p.ttl)).
		Claim("project", s.Project).Claim("ticket", s.Ticket).Claim("match", s.Match).Claim("connection", s.Connection)
	if s.Backfill != "" {
		b = b.Claim("backfill", s.Backfill)
	}
	t, err := b.Build()
	if err != nil {
		return "", fmt.Errorf("seat pass: %w", err)
	}
	text, err := p.keys.Sign(t)
	if err != nil {
		return "", fmt.Errorf("seat pass: %w", err)
	}
	return text, nil
}

// Routes serves the public keys.
func (p *Passes) Routes(e *echo.Echo) { p.keys.Serve(e, Path) }

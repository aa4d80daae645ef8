// Package allocator gets the game servers: it takes claimed matches from the work
// queue, asks a provider for a server, and writes the same connection to all tickets of the match.
//
// Every step may be repeated, by this allocator or by another: the match's state
// says how far it came, and the provider knows an allocation by its match. A server whose
// match nobody waits for any more is given back.
package allocator

import (
	"context"
	"log/slog"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/internal/app"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/keyring"
	"matchmaker.dev/services/internal/state"
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Bus      *bus.Bus
	Provider provider.Provider
	// Tokens issues the servers' tokens, and Verifier verifies them; nil where servers get none.
	Tokens   *token.Issuer
	Verifier *auth.Verifier
	// Keys decrypt the hosting keys of configs; nil where configs have none.
	Keys     *keyring.Ring
	Log      *slog.Logger
	Now      func() time.Time
	Settings Settings
}

// Settings of the allocator.
type Settings struct {
	// Parallel is how many matches one allocator works on at once.
	Parallel int
	// Deadline is how long a provider may take, retries included, before the tickets get AllocationError.
	Deadline time.Duration
	// Attempts is how often a match may be taken from the queue before its tickets get AllocationError.
	Attempts int
	// Poll is the time between two questions after an allocation that is pending.
	Poll time.Duration
	// Readable is how long a result can be read.
	Readable time.Duration
}

// DefaultSettings suit providers that answer within seconds.
func DefaultSettings() Settings {
	return Settings{
		Parallel: 64,
		Deadline: 30 * time.Second,
		Attempts: 10,
		Poll:     250 * time.Millisecond,
		Readable: 10 * time.Minute,
	}
}

type service struct{ Options }

// New makes the service.
func New(o Options) app.Part {
	s := &service{o}
	return app.Part{Name: "allocator", Run: s.run, Ready: o.Store.Ping}
}

func (s *service) run(ctx context.Context) error {
	return s.Bus.Work(ctx, s.Settings.Parallel, func(ctx context.Context, w *pb.MatchWork, attempt int) error {
		return s.match(ctx, w.GetProject(), w.GetMatch(), attempt)
	})
}

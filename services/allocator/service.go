// Package allocator gets the game servers: it takes claimed matches from the work queue, asks a provider for a server,
// and writes the same connection to all tickets of the match.
//
// Every step may be repeated, by this allocator or by another. The match's state says how far it came and which
// allocator has its lease, and the provider knows an allocation by its match. A server that no ticket uses is
// deallocated: the step that ends its match notes it in the state store.
//
// A game server renews its token here, for as long as it lives.
package allocator

import (
	"context"
	"log/slog"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/token"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/ratelimit"
	"matchmaker.dev/services/internal/observe/telemetry"
	"matchmaker.dev/services/internal/platform/app"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/platform/notify"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
)

// Options are what the service needs.
type Options struct {
	Store    *state.Store
	Bus      Bus
	Provider provider.Provider
	// Name is the provider's in metrics. The providers of a Choice have names of their own.
	Name string
	// Tokens issues the servers' tokens, and Verifier verifies them; nil where servers get none.
	Tokens   *token.Issuer
	Verifier *auth.Verifier
	// Keys decrypt the hosting keys of configs; nil where configs have none.
	Keys     *keyring.Ring
	Log      *slog.Logger
	Settings Settings
	// Readable is how long a result can be read.
	Readable time.Duration
	// Renewable is how long after its allocation a server may renew its token where its hosting system does not tell
	// whether it lives.
	Renewable time.Duration
	// Meter makes the instruments; the zero Meter measures nothing.
	Meter telemetry.Meter
	// Tracer makes the spans; the zero Tracer makes none.
	Tracer telemetry.Tracer
}

// Bus is what an allocator needs of the bus: a *bus.Bus.
type Bus interface {
	ConsumeMatches(ctx context.Context, parallel int, handle bus.MatchHandler) error
	PokeTickets(ctx context.Context, project string, position uint64, queues ...string)
	Poke(ctx context.Context, project string, p *pb.Poke)
	NotifyResults(ctx context.Context, project string, tickets []string, results []*pb.Assignment)
}

type service struct {
	Options
	metrics *metrics

	begins   *batch[state.Beginning, state.Allocation]
	ends     *batch[state.Ending, state.Ended]
	limiter  *limiter
	refusals *ratelimit.Local
	renewals *ratelimit.Local
	// keyNotes has the keyNote of each project.
	keyNotes sync.Map
	// deallocations wakes the loop that deallocates servers.
	deallocations notify.Signal
}

// New makes the service.
func New(o Options) app.Part {
	settings.Complete(&o.Settings.Timing)
	s := &service{
		Options: o, metrics: newMetrics(o.Meter), limiter: newLimiter(o.Settings.Parallel, o.Settings.Fleet),
		// How often an allocator says of a target that it has no server: matches that were refused ask again and again.
		refusals: ratelimit.NewLocal("refusals", state.Rate{PerSecond: 10, Burst: 1}, time.Now),
		// How often a server renews its token: each time its hosting system is asked.
		renewals:      ratelimit.NewLocal("renewals", state.Rate{PerSecond: 1, Burst: 10}, o.Store.Now),
		deallocations: notify.New(),
	}
	s.begins = newBatch(o.Settings.Call, o.Store.BeginAllocations, func(a state.Allocation) bool { return a.Status != "" })
	s.ends = newBatch(o.Settings.Call, s.endMatches, func(e state.Ended) bool { return e.Status != "" })
	return app.Part{Name: "allocator", Run: s.run, Ready: o.Store.Ping, Routes: s.routes}
}

func (s *service) run(ctx context.Context) error {
	var deallocating sync.WaitGroup
	defer deallocating.Wait()
	deallocating.Go(func() { s.deallocate(ctx) })
	s.initMetrics(ctx)
	return s.Bus.ConsumeMatches(ctx, s.Settings.Parallel, func(ctx context.Context, w *pb.MatchWork, attempt int) error {
		s.metrics.running.Add(ctx, 1)
		defer s.metrics.running.Add(context.WithoutCancel(ctx), -1)
		return s.match(ctx, w, attempt)
	})
}

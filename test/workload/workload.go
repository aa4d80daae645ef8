// Package workload has the clients of chaos and simulation: players, which create tickets, wait for their results or
// leave; games, which fill their slots; and a studio, which changes configs and functions. They write every request and
// answer to the journal. It also has a fleet manager.
package workload

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/test/chaos/history"
)

// Clients are what all users of a project have in common: for each service a client for the next request, which repeats
// none, so that the journal has every failure.
type Clients struct {
	Project                              string
	Journal                              *history.Journal
	Tickets, Parties, Configs, Backfills func() *client.Client
	// As names the caller of the requests of a context; may be nil.
	As func(ctx context.Context, who string) context.Context
}

// Client makes a client of a service with a token that lasts for a day: a player's lobby, a game server's, or the
// developer's who owns the project. It repeats no request.
func Client(tokens *issuer.Issuer, service, url, project string, transport http.RoundTripper) (*client.Client, error) {
	token, err := Token(tokens, service, project)
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: url, Project: project, Token: client.StaticToken(token),
		HTTP: &http.Client{Transport: transport}, Retry: client.Retry{Attempts: -1, Reconnects: -1}})
}

// Token is the token of such a client.
func Token(tokens *issuer.Issuer, service, project string) (string, error) {
	c := issuer.Claims{Kind: auth.Developer, Subject: "studio", Role: "Owner"}
	switch service {
	case catalog.Ticket, catalog.Party:
		c = issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct}
	case catalog.Backfill:
		c = issuer.Claims{Kind: auth.Server, Subject: "server"}
	}
	c.Project, c.TTL = project, 24*time.Hour
	return tokens.Mint(c)
}

// requestTime is how long clients wait for an answer.
const requestTime = 10 * time.Second

func (c *Clients) named(ctx context.Context, who string) context.Context {
	if c.As == nil {
		return ctx
	}
	return c.As(ctx, who)
}

// limit is the context of one request.
func (c *Clients) limit(ctx context.Context, who string) (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.named(ctx, who), requestTime)
}

// RetryAfter is the time between a failure and the next try.
func RetryAfter(r *rand.Rand) time.Duration {
	return 50*time.Millisecond + time.Duration(r.IntN(200))*time.Millisecond
}

// Workload is all clients of a system, by project.
type Workload struct {
	Crowds  []*Crowd
	Studios []*Studio
	Games   []*Games
	// Referees report results; there may be none.
	Referees []*Referee

	// faults ends with the last fault, arrivals when no new player comes and nothing is changed any more, lives when
	// all clients stop.
	faults, arrivals, lives          context.Context
	endFaults, endArrivals, endLives context.CancelFunc
	arriving, playing                sync.WaitGroup

	mu     sync.Mutex
	failed error
}

// Begin starts all clients. They stop with Close and End. also is one more; may be nil.
func (w *Workload) Begin(ctx context.Context, also func(lives, faults context.Context)) {
	w.lives, w.endLives = context.WithCancel(ctx)
	w.arrivals, w.endArrivals = context.WithCancel(w.lives)
	w.faults, w.endFaults = context.WithCancel(w.lives)
	for n := range w.Crowds {
		w.arriving.Go(func() { w.Crowds[n].Arrive(w.arrivals, w.lives) })
		w.arriving.Go(func() {
			err := w.Studios[n].work(w.arrivals, w.lives, w.faults)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.failed = errors.Join(w.failed, err)
		})
		w.playing.Go(func() { w.Games[n].run(w.arrivals, w.lives) })
	}
	if also != nil {
		w.arriving.Go(func() { also(w.lives, w.faults) })
	}
}

// EndFaults tells the clients that there are no faults any more.
func (w *Workload) EndFaults() { w.endFaults() }

// Close ends the arrivals. It returns when all configs are in place.
func (w *Workload) Close(ctx context.Context) error {
	w.endArrivals()
	w.arriving.Wait()
	for _, s := range w.Studios {
		if !s.settled {
			w.failed = errors.Join(w.failed, s.renew(ctx))
		}
	}
	return w.failed
}

// End stops all clients, whatever they wait for, and returns when they have stopped. It may be called twice.
func (w *Workload) End() {
	w.endLives()
	w.arriving.Wait()
	w.playing.Wait()
	for _, c := range w.Crowds {
		c.present.Wait()
	}
}

// Began lets the server of a new match report its result some time after it is ready.
func (w *Workload) Began(project, match string, teams int, ready time.Duration) {
	for _, r := range w.Referees {
		if r.Project == project && w.lives != nil && teams > 0 {
			r.Report(w.lives, match, teams, ready+time.Second)
		}
	}
}

// Last reads what became of all players. patience is how long that may take, parallel how many tickets are read at a
// time.
func (w *Workload) Last(ctx context.Context, patience time.Duration, parallel int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, c := range w.Crowds {
		c.last(ctx, parallel)
	}
	for _, r := range w.Referees {
		r.read(ctx)
	}
}

// Settle waits until all waiting players are matched. waiting is told how many there are.
func (w *Workload) Settle(ctx context.Context, patience time.Duration, waiting func(players int)) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	settle(ctx, w.Crowds, waiting)
}

package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
)

// Games are the running games of a project. They fill up, lose players, and end or fall silent.
type Games struct {
	Clients
	Random *rand.Rand
	// Approval is how long the service waits for a game to approve its proposals.
	Approval time.Duration
	// Named: every other game says which players it has; these may come back.
	Named bool

	mu     sync.Mutex
	opened int
	under  sync.WaitGroup
	// lives ends when all games do, and rough when they fall silent no more; nil while there are none.
	rough, lives context.Context
}

// gamesOpen is how many games a project has at a time, gamePace the time between requests of each, and gameSlots how
// many players it takes.
const (
	gamesOpen = 2
	gamePace  = 400 * time.Millisecond
	gameSlots = 4
)

// run keeps games open until ctx ends. They delete their backfill tickets then. Games may fall silent until rough ends.
func (a *Games) run(rough, ctx context.Context) {
	a.mu.Lock()
	a.rough, a.lives = rough, ctx
	a.mu.Unlock()
	for range gamesOpen {
		a.under.Go(func() {
			for ctx.Err() == nil {
				a.open().play(rough, ctx)
			}
		})
	}
	<-ctx.Done()
	a.mu.Lock()
	a.lives = nil
	a.mu.Unlock()
	a.under.Wait()
}

// Host lets a server play the game of its match, whose backfill ticket was created with it.
func (a *Games) Host(ticket, connection string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lives == nil {
		return
	}
	g := &game{Games: a, connection: connection, ticket: ticket, hosted: true,
		random: rand.New(rand.NewPCG(0, a.Random.Uint64()))} //nolint:gosec // it must be the same every time
	rough, ctx := a.rough, a.lives
	a.under.Go(func() { g.play(rough, ctx) })
}

// game is a running game, and what its server knows of its backfill ticket.
type game struct {
	*Games
	random     *rand.Rand
	connection string
	ticket     string
	// hosted: it was created with its match.
	hosted bool
	// players are the players in the game from the beginning, as its server says; nil if it says nothing.
	players []client.GamePlayer
}

func (a *Games) open() *game {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened++
	g := &game{
		Games: a, connection: fmt.Sprintf("game-%d:7777", a.opened),
		random: rand.New(rand.NewPCG(uint64(a.opened), a.Random.Uint64())), //nolint:gosec // the same every time
	}
	if a.Named && a.opened%2 == 0 { // they come back, it may be
		for n := g.random.IntN(8); n < 300; n += 8 {
			g.players = append(g.players, client.GamePlayer{ID: fmt.Sprint("player-", n)})
		}
	}
	return g
}

// play does what a game does.
func (g *game) play(rough, ctx context.Context) {
	if g.ticket == "" && !g.create(ctx) {
		_ = wait.For(ctx, RetryAfter(g.random)) // the backfill ticket may exist, but its id is unknown
		return
	}
	rounds := 10 + g.random.IntN(40)
	if g.hosted { // there are many
		rounds /= 4
	}
	for ; rounds > 0 && ctx.Err() == nil; rounds-- {
		_ = wait.For(ctx, gamePace/2+time.Duration(g.random.IntN(int(gamePace))))
		switch n := g.random.IntN(20); {
		case n < 3 || n < 10 && rough.Err() != nil:
			g.change(ctx) // players left: there is room again
			for range n % 3 {
				g.change(ctx) // and again at once, while a function runs on the version before
			}
		case n == 3:
			_ = wait.For(rough, g.Approval+time.Second) // it is silent until the proposals have lapsed
		default:
			if g.approve(ctx) == http.StatusNotFound {
				return // the backfill ticket has expired
			}
		}
	}
	if g.random.IntN(4) > 0 || rough.Err() != nil {
		g.delete(context.WithoutCancel(ctx))
	}
	// Otherwise the game ends without a request, as if its machine had died.
}

func vacancy() map[string]float64 {
	return map[string]float64{string(lane.Games): 1, "free": gameSlots}
}

// ask makes a request and writes it to the journal.
func (g *game) ask(
	ctx context.Context, op history.Op, good int, do func(context.Context, *history.Round) error,
) history.Round {
	ctx, cancel := g.limit(context.WithoutCancel(ctx), g.connection)
	defer cancel()
	r := history.Round{Op: op, Project: g.Project, Backfill: g.ticket, Connection: g.connection}
	for _, one := range g.players {
		r.Players = append(r.Players, one.ID)
	}
	r.From = history.Now()
	err := do(ctx, &r)
	r.To = history.Now()
	r.Status, r.Error = Answer(err, good)
	g.Journal.Round(r)
	return r
}

func (g *game) create(ctx context.Context) bool {
	r := g.ask(ctx, history.Create, http.StatusCreated, func(ctx context.Context, r *history.Round) (err error) {
		g.ticket, err = g.Backfills().CreateBackfill(ctx, client.BackfillRequest{
			Connection: g.connection, Attributes: vacancy(), Players: g.players,
		})
		r.Backfill = g.ticket
		return err
	})
	return r.Status == http.StatusCreated
}

func (g *game) change(ctx context.Context) {
	g.ask(ctx, history.Put, http.StatusOK, func(ctx context.Context, _ *history.Round) error {
		return g.Backfills().UpdateBackfill(ctx, client.BackfillTicket{
			ID: g.ticket, Connection: g.connection, Attributes: vacancy(), Players: g.players,
		})
	})
}

func (g *game) approve(ctx context.Context) (status int) {
	r := g.ask(ctx, history.Approve, http.StatusOK, func(ctx context.Context, r *history.Round) error {
		t, err := g.Backfills().ApproveBackfill(ctx, g.ticket)
		if err == nil {
			r.Version = t.RecordVersion
			for _, k := range t.AssignedTickets {
				r.Tickets = append(r.Tickets, k.ID)
			}
		}
		return err
	})
	return r.Status
}

// delete deletes the backfill ticket. It repeats the request until it is answered.
func (g *game) delete(ctx context.Context) {
	for range 20 {
		r := g.ask(ctx, history.Delete, http.StatusOK, func(ctx context.Context, _ *history.Round) error {
			return g.Backfills().DeleteBackfill(ctx, g.ticket)
		})
		if r.Status == http.StatusOK || r.Status == http.StatusNotFound {
			return
		}
		_ = wait.For(ctx, RetryAfter(g.random))
	}
}

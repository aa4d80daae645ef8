package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/test/chaos/history"
	"matchmaker.dev/services/test/chaos/lane"
	"matchmaker.dev/services/test/chaos/player"
)

// gameServers are the running games of a project. They fill up, lose players, and end or fall silent.
type gameServers struct {
	project   string
	backfills api
	journal   *history.Journal

	mu     sync.Mutex
	random *rand.Rand
	opened int
}

// gamesOpen is how many games a project has at a time, gamePace the time between requests of each, and gameSlots how
// many players it takes.
const (
	gamesOpen = 2
	gamePace  = 400 * time.Millisecond
	gameSlots = 4
)

func newGameServers(s *system, project string, journal *history.Journal, random *rand.Rand) (*gameServers, error) {
	backfills, err := s.api(project, "backfill", serverClaims)
	return &gameServers{project: project, backfills: backfills, journal: journal, random: random}, err
}

// run keeps games open until ctx ends. They delete their backfill tickets then. Games may fall silent until rough ends.
func (a *gameServers) run(rough, ctx context.Context) {
	var under sync.WaitGroup
	defer under.Wait()
	for range gamesOpen {
		under.Go(func() {
			for ctx.Err() == nil {
				a.open().play(rough, ctx)
			}
		})
	}
}

// dice is a random number below n.
func (a *gameServers) dice(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.random.IntN(n)
}

// game is a running game, and what its server knows of its backfill ticket.
type game struct {
	*gameServers
	connection string
	ticket     string
}

func (a *gameServers) open() *game {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened++
	return &game{gameServers: a, connection: fmt.Sprintf("game-%d:7777", a.opened)}
}

// play does what a game does.
func (g *game) play(rough, ctx context.Context) {
	if !g.create(ctx) {
		pause(ctx, retryAfter()) // the backfill ticket may exist, but its id is unknown
		return
	}
	for rounds := 10 + g.dice(40); rounds > 0 && ctx.Err() == nil; rounds-- {
		pause(ctx, gamePace/2+time.Duration(g.dice(int(gamePace))))
		switch n := g.dice(20); {
		case n < 3 || n < 10 && rough.Err() != nil:
			g.change(ctx) // players left: there is room again
			for range n % 3 {
				g.change(ctx) // and again at once, while a function runs on the version before
			}
		case n == 3:
			pause(rough, approvalTime+time.Second) // it is silent until the proposals have lapsed
		default:
			if g.approve(ctx) == http.StatusNotFound {
				return // the backfill ticket has expired
			}
		}
	}
	if g.dice(4) > 0 || rough.Err() != nil {
		g.delete(context.WithoutCancel(ctx))
	}
	// Otherwise the game ends without a request, as if its machine had died.
}

func (g *game) vacancy() map[string]float64 {
	return map[string]float64{string(lane.Games): 1, "free": gameSlots}
}

// ask makes a request and writes it to the journal.
func (g *game) ask(
	ctx context.Context, op history.Op, good int, do func(context.Context, *history.Round) error,
) history.Round {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	r := history.Round{Op: op, Project: g.project, Backfill: g.ticket, Connection: g.connection}
	r.From = history.Now()
	err := do(ctx, &r)
	r.To = history.Now()
	r.Status, r.Error = player.Answer(err, good)
	g.journal.Round(r)
	return r
}

func (g *game) create(ctx context.Context) bool {
	r := g.ask(ctx, history.Create, http.StatusCreated, func(ctx context.Context, r *history.Round) (err error) {
		g.ticket, err = g.backfills.any().CreateBackfill(ctx, client.BackfillRequest{Connection: g.connection,
			Attributes: g.vacancy()})
		r.Backfill = g.ticket
		return err
	})
	return r.Status == http.StatusCreated
}

func (g *game) change(ctx context.Context) {
	g.ask(ctx, history.Put, http.StatusOK, func(ctx context.Context, _ *history.Round) error {
		return g.backfills.any().UpdateBackfill(ctx, client.BackfillTicket{ID: g.ticket, Connection: g.connection,
			Attributes: g.vacancy()})
	})
}

func (g *game) approve(ctx context.Context) (status int) {
	r := g.ask(ctx, history.Approve, http.StatusOK, func(ctx context.Context, r *history.Round) error {
		t, err := g.backfills.any().ApproveBackfill(ctx, g.ticket)
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
			return g.backfills.any().DeleteBackfill(ctx, g.ticket)
		})
		if r.Status == http.StatusOK || r.Status == http.StatusNotFound {
			return
		}
		pause(ctx, retryAfter())
	}
}

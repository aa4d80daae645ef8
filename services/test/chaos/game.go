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
)

// arcade is the running games of a project, which fill up, lose players, and end, or fall silent.
type arcade struct {
	project   string
	backfills api
	journal   *history.Journal

	mu     sync.Mutex
	random *rand.Rand
	opened int
}

// How many games a project has at a time, how often each speaks, and how many players it takes at the most.
const (
	gamesOpen = 2
	gamePace  = 400 * time.Millisecond
	gameSlots = 4
)

func newArcade(s *system, project string, journal *history.Journal, random *rand.Rand) (*arcade, error) {
	backfills, err := s.api(project, "backfill", serverClaims)
	return &arcade{project: project, backfills: backfills, journal: journal, random: random}, err
}

// run keeps games open until ctx ends. Those that are open then end in good order. From the end of rough on none of
// them falls silent.
func (a *arcade) run(rough, ctx context.Context) {
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

// dice is a number below n.
func (a *arcade) dice(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.random.IntN(n)
}

// game is a running game, and what its server knows of its backfill ticket.
type game struct {
	*arcade
	connection string
	ticket     string
}

func (a *arcade) open() *game {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened++
	return &game{arcade: a, connection: fmt.Sprintf("game-%d:7777", a.opened)}
}

// play is the life of a game.
func (g *game) play(rough, ctx context.Context) {
	if !g.create(ctx) {
		pause(ctx, retryAfter()) // a backfill ticket that nobody knows of may be left
		return
	}
	for rounds := 10 + g.dice(40); rounds > 0 && ctx.Err() == nil; rounds-- {
		pause(ctx, gamePace/2+time.Duration(g.dice(int(gamePace))))
		switch n := g.dice(20); {
		case n < 3 || n < 10 && rough.Err() != nil:
			g.change(ctx) // players left: there is room again
			for range n % 3 {
				g.change(ctx) // and more at once, while a function looks at what was
			}
		case n == 3:
			pause(rough, approvalTime+time.Second) // it says nothing, until what was proposed has lapsed
		default:
			if g.approve(ctx) == http.StatusNotFound {
				return // as it is told, nothing is left of it
			}
		}
	}
	if g.dice(4) > 0 || rough.Err() != nil {
		g.delete(context.WithoutCancel(ctx))
	}
	// Else its machine died: nobody will ever speak for it again.
}

func (g *game) vacancy() map[string]float64 {
	return map[string]float64{string(games): 1, "free": gameSlots}
}

// ask makes a request, and writes it down.
func (g *game) ask(
	ctx context.Context, op history.Op, good int, do func(context.Context, *history.Round) error,
) history.Round {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
	defer cancel()
	r := history.Round{Op: op, Project: g.project, Backfill: g.ticket, Connection: g.connection}
	r.From = history.Now()
	err := do(ctx, &r)
	r.To = history.Now()
	r.Status, r.Error = answer(err, good)
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
			for _, k := range t.Assigned {
				r.Tickets = append(r.Tickets, k.ID)
			}
		}
		return err
	})
	return r.Status
}

// delete ends the game, however often it must ask.
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

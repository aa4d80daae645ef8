package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// steady measures how long players wait while they arrive at a steady rate.
func (b *bench) steady(ctx context.Context) (err error) {
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("steady: one against one for %s, from the 201 to the assignment", b.For)
	t.AppendHeader(table.Row{"rate", "hosting", "tickets", "p50", "p90", "p99", "longest", "create p50", "create p99", "generator late p99"})
	where := table.NewWriter()
	where.SetOutputMirror(b.out)
	where.SetStyle(table.StyleLight)
	where.SetTitle("steady: where a ticket's time goes, means in milliseconds")
	where.AppendHeader(whereHeader())
	for _, rate := range b.Rate {
		for _, hosted := range []bool{false, true} {
			a, err := b.arrivals(ctx, rate, hosted, b.For)
			if errors.Is(err, errLeft) && ctx.Err() == nil {
				b.progress("%d/s, hosting %s: %v", rate, hosting(hosted), err)
				t.AppendRow(table.Row{fmt.Sprintf("%d/s", rate), hosting(hosted), "more than this machine can take"})
				continue
			}
			if err != nil {
				return fmt.Errorf("%d/s: %w", rate, err)
			}
			t.AppendRow(a.row(rate, hosting(hosted)))
			where.AppendRow(append(table.Row{fmt.Sprintf("%d/s", rate), hosting(hosted)}, a.where...))
		}
	}
	t.Render()
	where.Render()
	return nil
}

func hosting(hosted bool) string {
	if hosted {
		return "instant"
	}
	return "none"
}

// arrivals lets players arrive at a rate for a while, on a server of their own.
func (b *bench) arrivals(ctx context.Context, rate int, hosted bool, over time.Duration) (a *arrivals, err error) {
	b.progress("%d/s for %s, hosting %s", rate, over, hosting(hosted))
	const project = "steady"
	server, err := b.server(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	studio, err := b.prepare(ctx, server, project)
	if err != nil {
		return nil, err
	}
	if err := putConfig(ctx, studio, hosted); err != nil {
		return nil, err
	}
	tokens, err := tokensOf(server, project)
	if err != nil {
		return nil, err
	}
	n := int(float64(rate)*over.Seconds()) / 2 * 2 // nobody is to be left without an opponent
	random := rand.New(rand.NewPCG(b.Seed, 0))     //nolint:gosec // a simulation
	a = &arrivals{host: hostOf(server.URL), project: project, tokens: tokens, hosted: hosted, tickets: make([]arrival, n)}
	var at time.Duration
	for i := range a.tickets {
		// Players do not know of each other: the gaps between them are exponential.
		at += time.Duration(random.ExpFloat64() * float64(time.Second) / float64(rate))
		a.tickets[i] = arrival{at: at, player: i % players, skill: min(max(1500+300*random.NormFloat64(), 0), 2999)}
	}
	watching, enough := context.WithCancel(ctx)
	defer enough()
	w, err := observe(watching, server, project)
	if err != nil {
		return nil, err
	}
	a.open(ctx)
	if err := a.verdict(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := w.all(limited, a.tickets[n-1].id); err != nil {
		return nil, err
	}
	a.where = w.where(a.tickets)
	return a, nil
}

// arrivals are players that come whether or not others are still waiting for an answer.
type arrivals struct {
	host, project string
	tokens        []string
	hosted        bool
	warm, tickets []arrival
	// where the time went.
	where table.Row

	mu   sync.Mutex
	idle []*wire
}

// arrival is one player, and what became of it.
type arrival struct {
	at     time.Duration // after the start
	player int
	skill  float64

	id                      string
	late, creating, waiting time.Duration
	seen                    time.Time
	err                     error
}

// warmPlayers come first and are not measured: instances, connections and caches see their first work.
const warmPlayers = 200

// open lets all players arrive, each at its time, and returns when the last has its assignment.
func (a *arrivals) open(ctx context.Context) {
	defer a.close()
	a.warm = make([]arrival, warmPlayers)
	for i := range a.warm {
		a.warm[i] = arrival{at: time.Duration(i) * 5 * time.Millisecond, player: i, skill: 1500}
	}
	a.play(ctx, a.warm)
	a.play(ctx, a.tickets)
}

func (a *arrivals) play(ctx context.Context, tickets []arrival) {
	var all sync.WaitGroup
	defer all.Wait()
	start := time.Now()
	for i := range tickets {
		p := &tickets[i]
		select {
		case <-ctx.Done():
			p.err = context.Cause(ctx)
			continue
		case <-time.After(time.Until(start.Add(p.at))):
		}
		all.Go(func() {
			p.late = time.Since(start) - p.at
			p.err = a.player(ctx, p)
		})
	}
}

// player is what one player does, on a connection that nobody else has meanwhile.
func (a *arrivals) player(ctx context.Context, p *arrival) error {
	w, err := a.wire(ctx)
	if err != nil {
		return err
	}
	if err := a.wait(w, p); err != nil {
		w.close()
		return err
	}
	a.release(w)
	return nil
}

// wait creates a ticket and waits for its assignment.
func (a *arrivals) wait(w *wire, p *arrival) error {
	w.patience(time.Now().Add(time.Minute))
	token := a.tokens[p.player]
	began := time.Now()
	status, body, err := w.do(creation(a.host, a.project, token, p.skill))
	if err != nil {
		return err
	}
	answered := time.Now()
	p.creating = answered.Sub(began)
	if p.id, err = idOf(status, body); err != nil {
		return err
	}
	if status, body, err = w.do(awaiting(a.host, a.project, token, p.id)); err != nil {
		return err
	}
	p.seen = time.Now()
	p.waiting = p.seen.Sub(answered)
	return assigned(status, body, a.hosted)
}

// wire is an idle connection, or a new one.
func (a *arrivals) wire(ctx context.Context) (*wire, error) {
	a.mu.Lock()
	if n := len(a.idle); n > 0 {
		w := a.idle[n-1]
		a.idle = a.idle[:n-1]
		a.mu.Unlock()
		return w, nil
	}
	a.mu.Unlock()
	return dial(ctx, a.host)
}

func (a *arrivals) release(w *wire) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.idle = append(a.idle, w)
}

func (a *arrivals) close() {
	for _, w := range a.idle {
		w.close()
	}
}

// errLeft says that a rate was too high, in which case some waited in vain.
var errLeft = errors.New("tickets were left without an assignment")

// verdict is errLeft when any ticket was left without its assignment.
func (a *arrivals) verdict() error {
	var errs []error
	all := slices.Concat(a.warm, a.tickets)
	for _, p := range all {
		if p.err != nil {
			errs = append(errs, p.err)
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%w: %d of %d, the first: %w", errLeft, len(errs), len(all), errs[0])
	}
	return nil
}

func (a *arrivals) row(rate int, hosting string) table.Row {
	var late, creating, waiting times
	for i := range a.tickets {
		p := &a.tickets[i]
		late, creating, waiting = append(late, p.late), append(creating, p.creating), append(waiting, p.waiting)
	}
	return table.Row{
		fmt.Sprintf("%d/s", rate), hosting, len(a.tickets),
		ms(waiting.quantile(0.50)), ms(waiting.quantile(0.90)), ms(waiting.quantile(0.99)), ms(waiting.quantile(1)),
		ms(creating.quantile(0.50)), ms(creating.quantile(0.99)), ms(late.quantile(0.99)),
	}
}

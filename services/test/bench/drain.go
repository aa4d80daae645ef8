package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/pkg/client"
)

// watched is how many of the waiting tickets are watched while they are assigned. Watching all would take too much of
// the machine.
const watched = 250

// drain measures how long it takes to assign many waiting tickets.
func (b *bench) drain(ctx context.Context) error {
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("drain: from config to assignment")
	t.AppendHeader(table.Row{"waiting", "p50", "p99", "last"})
	for _, n := range b.Waiting {
		if err := b.crowd(ctx, n, t); err != nil {
			return fmt.Errorf("%d tickets: %w", n, err)
		}
	}
	t.Render()
	return nil
}

// crowd measures one number of waiting tickets on a server of its own.
func (b *bench) crowd(ctx context.Context, n int, t table.Writer) (err error) {
	b.progress("drain: %d tickets", n)
	server, err := b.server(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	c := &crowd{host: hostOf(server.URL), project: "drain", ids: make([]string, n)}
	studio, err := b.prepare(ctx, server, c.project)
	if err != nil {
		return err
	}
	if c.tokens, err = tokensOf(server, c.project); err != nil {
		return err
	}
	if err := c.come(ctx); err != nil {
		return err
	}
	waited, err := c.leave(ctx, studio)
	if err != nil {
		return err
	}
	t.AppendRow(table.Row{n, ms(waited.quantile(0.5)), ms(waited.quantile(0.99)), ms(waited.quantile(1))})
	return nil
}

// crowd is many waiting players.
type crowd struct {
	host, project string
	tokens        []string
	ids           []string
}

// token is that of a ticket's player. The watched tickets, which are evenly apart, have many players: one may have few
// GETs that are held.
func (c *crowd) token(i int) string { return c.tokens[(i+i/len(c.tokens))%len(c.tokens)] }

// come creates all tickets.
func (c *crowd) come(ctx context.Context) error {
	return c.each(ctx, func(w *wire, i int) error {
		// The order of skills is not the order of arrival.
		skill := float64(i * 7919 % 3000)
		status, body, err := w.do(creation(c.host, c.project, c.token(i), "", skill))
		if err != nil {
			return err
		}
		c.ids[i], err = idOf(status, body)
		return err
	})
}

// leave puts the config, and returns how long the watched tickets then waited for their assignments. It also waits for
// the assignments of all others.
func (c *crowd) leave(ctx context.Context, studio *client.Client) (times, error) {
	assignedAt := make([]time.Time, min(watched, len(c.ids)))
	errs := make([]error, len(assignedAt))
	var watching sync.WaitGroup
	for k := range assignedAt {
		watching.Go(func() {
			errs[k] = c.watch(ctx, k*len(c.ids)/len(assignedAt))
			assignedAt[k] = time.Now()
		})
	}
	_ = pause(ctx, time.Second) // all watchers wait before the config is put
	start := time.Now()
	err := putConfig(ctx, studio, false)
	watching.Wait()
	if err := first(append(errs, err)); err != nil {
		return nil, err
	}
	waited := make(times, len(assignedAt))
	for k, at := range assignedAt {
		waited[k] = at.Sub(start)
	}
	return waited, c.each(ctx, c.look)
}

// watch returns when a ticket is assigned.
func (c *crowd) watch(ctx context.Context, i int) error {
	w, err := dial(ctx, c.host)
	if err != nil {
		return err
	}
	defer w.close()
	return c.look(w, i)
}

// look waits for a ticket's assignment.
func (c *crowd) look(w *wire, i int) error {
	w.patience(time.Now().Add(time.Minute))
	status, body, err := w.do(awaiting(c.host, c.project, c.token(i), c.ids[i]))
	if err != nil {
		return err
	}
	return checkAssigned(status, body, false)
}

// each calls do for every ticket, on a few connections.
func (c *crowd) each(ctx context.Context, do func(w *wire, i int) error) error {
	errs := make([]error, 64)
	var all sync.WaitGroup
	for first := range errs {
		all.Go(func() {
			w, err := dial(ctx, c.host)
			if err != nil {
				errs[first] = err
				return
			}
			defer w.close()
			for i := first; i < len(c.ids) && errs[first] == nil && ctx.Err() == nil; i += len(errs) {
				errs[first] = do(w, i)
			}
		})
	}
	all.Wait()
	return first(append(errs, context.Cause(ctx)))
}

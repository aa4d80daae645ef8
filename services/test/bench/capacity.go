package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// capacity measures players who come again as soon as they are assigned: tickets per second while the same number
// waits, and the cost of each. Processor time is what to compare two builds by, since other load on the machine changes
// it little.
func (b *bench) capacity(ctx context.Context) error {
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("capacity: one against one, players who come again as soon as they are assigned, over %s;\n"+
		"processor time is that of one ticket", b.For)
	t.AppendHeader(append(table.Row{"players", "hosting", "requests", "tickets/s", "p50", "p99"}, usageHeader()...))
	for _, players := range b.Players {
		for _, m := range b.manners() {
			if err := b.circle(ctx, players, m, t); err != nil {
				return err
			}
		}
	}
	t.Render()
	return nil
}

// circle measures so many players on a server of their own.
func (b *bench) circle(ctx context.Context, players int, m manner, t table.Writer) (err error) {
	b.progress("capacity: %d players, %v", players, m)
	const project = "capacity"
	server, err := b.server(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	studio, err := b.prepare(ctx, server, project)
	if err != nil {
		return err
	}
	if err := putConfig(ctx, studio, m.hosted); err != nil {
		return err
	}
	tokens, err := tokensOf(server, project)
	if err != nil {
		return err
	}
	a := &arrivals{host: hostOf(server.URL), project: project, tokens: tokens, manner: m}
	from := time.Now().Add(4 * warmup)
	to := from.Add(b.For)
	parts, errs := make([]times, players), make([]error, players)
	var all sync.WaitGroup
	for i := range players {
		all.Go(func() { parts[i], errs[i] = a.again(ctx, i, from, to) })
	}
	if err := pause(ctx, time.Until(from)); err != nil {
		return err
	}
	before := usedBy(server.PID())
	if err := pause(ctx, time.Until(to)); err != nil {
		return err
	}
	used := usedBy(server.PID()).since(before)
	all.Wait()
	if err := first(errs); err != nil {
		return err
	}
	var waited times
	for _, part := range parts {
		waited = append(waited, part...)
	}
	row := append(append(table.Row{players}, m.cells()...), fmt.Sprintf("%.0f", float64(len(waited))/b.For.Seconds()),
		ms(waited.quantile(0.5)), ms(waited.quantile(0.99)))
	t.AppendRow(append(row, used.each(len(waited))...))
	return nil
}

// again is one player who creates one ticket after the other. Those that are assigned between from and to count. A
// player who still waits at the end leaves, since there may be no opponent.
func (a *arrivals) again(ctx context.Context, i int, from, to time.Time) (waited times, err error) {
	w, err := dial(ctx, a.host)
	if err != nil {
		return nil, err
	}
	defer w.close()
	for n := i; ctx.Err() == nil; n++ {
		p := arrival{player: n % len(a.tokens), skill: float64(n * 7919 % 3000), patience: to.Add(time.Second)}
		err := a.match(w, &p)
		if now := time.Now(); now.After(to) {
			return waited, nil
		} else if err == nil && now.After(from) {
			waited = append(waited, p.creating+p.waiting)
		}
		if err != nil {
			return nil, err
		}
	}
	return waited, context.Cause(ctx)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// steady measures how long players wait who arrive at a steady rate.
func (b *bench) steady(ctx context.Context) (err error) {
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("steady: one against one for %s, from the 201 to the assignment", b.For)
	t.AppendHeader(table.Row{"rate", "hosting", "requests", "tickets", "p50", "p90", "p99", "longest", "create p50",
		"create p99", "generator late p99"})
	where := table.NewWriter()
	where.SetOutputMirror(b.out)
	where.SetStyle(table.StyleLight)
	where.SetTitle("steady: where a ticket's time goes, means in milliseconds")
	where.AppendHeader(whereHeader())
	costs := table.NewWriter()
	costs.SetOutputMirror(b.out)
	costs.SetStyle(table.StyleLight)
	costs.SetTitle("steady: processor time of one ticket, from its creation to its assignment read")
	costs.AppendHeader(append(table.Row{"rate", "hosting", "requests"}, usageHeader()...))
	for _, rate := range b.Rate {
		for _, m := range b.manners() {
			row := append(table.Row{fmt.Sprintf("%d/s", rate)}, m.cells()...)
			a, err := b.arrivals(ctx, rate, m, true, b.For)
			if errors.Is(err, errLeft) && ctx.Err() == nil {
				b.progress("%d/s, %v: %v", rate, m, err)
				t.AppendRow(append(row, "more than this machine can take"))
				continue
			}
			if err != nil {
				return fmt.Errorf("%d/s: %w", rate, err)
			}
			t.AppendRow(slices.Concat(row, a.row()))
			where.AppendRow(slices.Concat(row, a.where))
			costs.AppendRow(slices.Concat(row, a.used.each(len(a.tickets))))
		}
	}
	t.Render()
	where.Render()
	costs.Render()
	return nil
}

// manners are all that --hosting and --requests name.
func (o options) manners() (all []manner) {
	for _, h := range o.Hosting {
		for _, r := range o.Requests {
			all = append(all, manner{hosted: h == "instant", one: r == "one"})
		}
	}
	return all
}

// String is for the progress.
func (m manner) String() string { return fmt.Sprintf("hosting %s, requests %s", m.cells()...) }

// cells are the hosting and the requests of a ticket, as in --hosting and --requests.
func (m manner) cells() table.Row {
	hosting, requests := "none", "two"
	if m.hosted {
		hosting = "instant"
	}
	if m.one {
		requests = "one"
	}
	return table.Row{hosting, requests}
}

// arrivals lets players arrive at a rate for a while, on a server of their own. observed says whether to record where
// the time goes, which costs some time too.
func (b *bench) arrivals(ctx context.Context, rate int, m manner, observed bool, over time.Duration) (a *arrivals,
	err error) {
	b.progress("%d/s for %s, %v", rate, over, m)
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
	if err := putConfig(ctx, studio, m.hosted); err != nil {
		return nil, err
	}
	tokens, err := tokensOf(server, project)
	if err != nil {
		return nil, err
	}
	a = newArrivals(hostOf(server.URL), project, tokens, m, rate, over, b.Seed)
	var w *observer
	if observed {
		watching, enough := context.WithCancel(ctx)
		defer enough()
		if w, err = observe(watching, server, project); err != nil {
			return nil, err
		}
	}
	a.open(ctx, server.PID())
	if err := a.err(); err != nil || w == nil {
		return a, err
	}
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := w.all(limited, a.tickets[len(a.tickets)-1].id); err != nil {
		return nil, err
	}
	a.where = w.where(a.tickets)
	return a, nil
}

func (a *arrivals) row() table.Row {
	var late, creating, waiting times
	for i := range a.tickets {
		p := &a.tickets[i]
		late, creating, waiting = append(late, p.late), append(creating, p.creating), append(waiting, p.waiting)
	}
	return table.Row{
		len(a.tickets),
		ms(waiting.quantile(0.50)), ms(waiting.quantile(0.90)), ms(waiting.quantile(0.99)), ms(waiting.quantile(1)),
		ms(creating.quantile(0.50)), ms(creating.quantile(0.99)), ms(late.quantile(0.99)),
	}
}

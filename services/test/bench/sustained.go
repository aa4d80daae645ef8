package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// sustained finds the highest rates of arrivals at which the queue does not grow.
func (b *bench) sustained(ctx context.Context) error {
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("sustained: the highest rate at which players wait no longer at the end of %s than at its beginning;\n"+
		"processor time is that of one ticket", b.Hold)
	t.AppendHeader(append(table.Row{"hosting", "requests", "rate", "p50", "p99", "first third p50", "last third p50",
		"generator late p99", "sustained"}, usageHeader()...))
	for _, m := range b.manners() {
		if err := b.highest(ctx, m, t); err != nil {
			return err
		}
		t.AppendSeparator()
	}
	t.Render()
	return nil
}

// highest finds the highest rate in a manner.
func (b *bench) highest(ctx context.Context, m manner, t table.Writer) error {
	good, bad := 0, 0
	try := func(rate int) error {
		ok, err := b.holds(ctx, rate, m, t)
		if ok {
			good = rate
		} else {
			bad = rate
		}
		return err
	}
	for rate := b.Least; bad == 0; rate = rate * 3 / 2 {
		if err := try(rate); err != nil {
			return err
		}
	}
	for range 2 {
		rate := (good + bad) / 2 / 100 * 100
		if rate <= good {
			break
		}
		if err := try(rate); err != nil {
			return err
		}
	}
	t.AppendRow(append(m.cells(), fmt.Sprintf("%d/s", good), "", "", "", "", "", "highest"))
	return nil
}

// holds tells whether a rate is sustained.
func (b *bench) holds(ctx context.Context, rate int, m manner, t table.Writer) (bool, error) {
	row := append(m.cells(), fmt.Sprintf("%d/s", rate))
	a, err := b.arrivals(ctx, rate, m, false, b.Hold)
	if err != nil {
		if ctx.Err() != nil {
			return false, err
		}
		// A ticket that is not assigned within a minute shows that the queue grows.
		b.progress("sustained: %d/s: %v", rate, err)
		t.AppendRow(append(row, "", "", "", "", "", "no"))
		return false, nil
	}
	g := a.growth()
	t.AppendRow(append(append(row, g.row()...), a.used.each(len(a.tickets))...))
	return g.none(), nil
}

// growth compares how long the first and the last players waited.
type growth struct {
	p50, p99, first, last, late time.Duration
}

func (a *arrivals) growth() growth {
	var all, late times
	for i := range a.tickets {
		all, late = append(all, a.tickets[i].creating+a.tickets[i].waiting), append(late, a.tickets[i].late)
	}
	third := len(all) / 3
	first, last := slices.Clone(all[:third]), slices.Clone(all[len(all)-third:])
	return growth{all.quantile(0.50), all.quantile(0.99), first.quantile(0.50), last.quantile(0.50), late.quantile(0.99)}
}

// Beyond these limits the queue grows, or the players do not arrive at the rate.
const (
	mostGrowth   = 50 * time.Millisecond
	mostLateness = 100 * time.Millisecond
)

func (g growth) none() bool { return g.last <= 2*g.first+mostGrowth && g.late <= mostLateness }

func (g growth) row() table.Row {
	sustained := "no"
	if g.none() {
		sustained = "yes"
	}
	return table.Row{ms(g.p50), ms(g.p99), ms(g.first), ms(g.last), ms(g.late), sustained}
}

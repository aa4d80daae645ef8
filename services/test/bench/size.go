package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/catalog"
)

// parts lists what size measures. Each is a process of its own.
func parts() []string { return append(catalog.Names(), "redis", "nats") }

// size measures what each service takes: processor time for tickets that arrive and are matched, and memory for tickets
// that wait. Redis writes its append-only file.
func (b *bench) size(ctx context.Context) (err error) {
	i, err := b.install(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.close()) }()
	if err := i.prepare(ctx, b.Function); err != nil {
		return err
	}
	rest := i.sample()
	b.progress("size: %d/s for %s", b.Arrive, b.For)
	busy, over, err := i.arrive(ctx, b.Arrive, b.For, b.Seed)
	if err != nil {
		return err
	}
	b.progress("size: %d tickets that wait, for %s", b.Stay, b.Rest)
	full, idle, err := i.stay(ctx, b.Stay, b.Rest)
	if err != nil {
		return err
	}
	t := table.NewWriter()
	t.SetOutputMirror(b.out)
	t.SetStyle(table.StyleLight)
	t.SetTitle("size: each service is a process; %d/s arrive for %s and are matched one against one, with servers;\n"+
		"then %d wait, and a function reads all of them and matches none",
		b.Arrive, b.For, b.Stay)
	t.AppendHeader(table.Row{"", "cores per 1,000/s", "MiB at rest", "MiB at that rate", "MiB with those who wait",
		"MiB per 100,000", "cores meanwhile"})
	var total [6]float64
	for _, part := range parts() {
		cores := (over[part].time - busy[part].time).Seconds() / b.For.Seconds() * 1000 / float64(b.Arrive)
		meanwhile := (idle[part].time - full[part].time).Seconds() / b.Rest.Seconds()
		more := (idle[part].memory - over[part].memory) * 100_000 / float64(b.Stay)
		row := []float64{cores, rest[part].memory, over[part].memory, idle[part].memory, more, meanwhile}
		for k, n := range row {
			total[k] += n
		}
		t.AppendRow(sizes(part, row))
	}
	t.AppendSeparator()
	t.AppendRow(sizes("all", total[:]))
	t.Render()
	return nil
}

func sizes(name string, n []float64) table.Row {
	return table.Row{name, fmt.Sprintf("%.3f", n[0]), fmt.Sprintf("%.0f", n[1]), fmt.Sprintf("%.0f", n[2]),
		fmt.Sprintf("%.0f", n[3]), fmt.Sprintf("%.0f", n[4]), fmt.Sprintf("%.3f", n[5])}
}

// use is what a process and its children use.
type use struct {
	time   time.Duration
	memory float64 // MiB now; shared pages count for each process
}

// sample reads what all parts have used until now.
func (i *installation) sample() map[string]use {
	all := map[string]use{}
	for _, part := range parts() {
		var pid int
		switch part {
		case "redis":
			pid = i.redis.PID()
		case "nats":
			pid = i.nats.PID()
		default:
			pid = i.processes[part].PID()
		}
		all[part] = use{time: familyTime(pid), memory: familyMemory(pid)}
	}
	return all
}

// arrive lets players arrive at a rate and wait for their assignments. It returns what was used before and after.
func (i *installation) arrive(ctx context.Context, rate int, over time.Duration, seed uint64) (before,
	after map[string]use, err error) {
	tokens, err := i.players()
	if err != nil {
		return nil, nil, err
	}
	a := newArrivals(i.address["ticket"], sizeProject, tokens, true, rate, over, seed)
	defer a.pool.stop()
	a.begin(ctx)
	before = i.sample()
	a.play(ctx, a.tickets)
	after = i.sample()
	return before, after, a.err()
}

// stay creates tickets that do not match, since their skills differ too much. It returns what was used when all were
// there, and after a while.
func (i *installation) stay(ctx context.Context, n int, over time.Duration) (before, after map[string]use, err error) {
	config, err := i.studio("config")
	if err != nil {
		return nil, nil, err
	}
	alone := client.Config{Matchmaking: client.Matchmaking{
		TargetFunction: &client.FunctionTarget{Name: "duel", Version: "1"},
		Config:         json.RawMessage(`{"attribute": "skill", "window": 0.5, "widen": 0}`),
	}}
	if _, err := config.PutConfig(ctx, "duel", alone, ""); err != nil {
		return nil, nil, err
	}
	tokens, err := i.players()
	if err != nil {
		return nil, nil, err
	}
	c := &crowd{host: i.address["ticket"], project: sizeProject, tokens: tokens, ids: make([]string, n)}
	err = c.each(ctx, func(w *wire, k int) error {
		status, body, err := w.do(creation(c.host, c.project, c.token(k), float64(k)))
		if err != nil {
			return err
		}
		c.ids[k], err = idOf(status, body)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if err := pause(ctx, settleTime); err != nil {
		return nil, nil, err
	}
	before = i.sample()
	if err := pause(ctx, over); err != nil {
		return nil, nil, err
	}
	return before, i.sample(), nil
}

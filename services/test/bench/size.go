package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/catalog"
	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/test/launch"
)

// installation is a system of many processes.
type installation struct {
	*launch.Installation
	project string
}

// sizeProject is the project of the measurement.
const sizeProject = "size"

// install starts all processes. more are arguments that a service has beside the usual ones; nil for none.
func (b *bench) install(ctx context.Context, more func(catalog.Service) []string) (*installation, error) {
	i, err := launch.Install(ctx, launch.InstallOptions{Matchmaker: b.Matchmaker, NATS: "nats", Errs: b.errs,
		Arguments: func(service catalog.Service) (args []string) {
			if service.Hosting {
				args = append(args, "--provider", "instant")
			}
			if service.Name == catalog.Ticket {
				args = append(args, "--player-rate", "1000", "--player-burst", "10000",
					"--project-rate", "1000000", "--project-burst", "1000000",
					"--read-rate", "100000", "--read-burst", "100000", "--max-waiting", "10000000")
			}
			if more != nil {
				args = append(args, more(service)...)
			}
			return args
		}})
	return &installation{i, sizeProject}, err
}

// size measures what each service takes: processor time for tickets that arrive and are matched, and memory for tickets
// that wait. Redis writes its append-only file.
func (b *bench) size(ctx context.Context) (err error) {
	i, err := b.install(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	if err := i.prepare(ctx, b.Function, true); err != nil {
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
	for _, part := range launch.Parts() {
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
	for _, part := range launch.Parts() {
		pid := i.PID(part)
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
	a := newArrivals(i.Address(catalog.Ticket), i.project, tokens, manner{hosted: true}, rate, over, seed)
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
	config, err := i.studio(catalog.Config)
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
	c := &crowd{host: i.Address(catalog.Ticket), project: i.project, tokens: tokens, ids: make([]string, n)}
	err = c.each(ctx, func(w *wire, k int) error {
		status, body, err := w.do(creation(c.host, c.project, c.token(k), "", float64(k)))
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

// studio returns a client of a service, with the token of the project's owner.
func (i *installation) studio(service string) (*client.Client, error) {
	token, err := i.Tokens.Mint(issuer.Claims{Kind: auth.Developer, Subject: "studio", Project: i.project,
		Role: "Owner"})
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{URL: "http://" + i.Address(service), Project: i.project,
		Token: client.StaticToken(token)})
}

// prepare uploads the function and starts matchmaking.
func (i *installation) prepare(ctx context.Context, function string, hosted bool) error {
	registry, err := i.studio(catalog.Registry)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(function)
	if err != nil {
		return err
	}
	if err := registry.PutFunction(ctx, "duel", "", bytes.NewReader(text)); err != nil {
		return err
	}
	config, err := i.studio(catalog.Config)
	if err != nil {
		return err
	}
	if err := putConfig(ctx, config, hosted); err != nil {
		return err
	}
	for {
		f, err := registry.GetFunction(ctx, "duel")
		if err != nil || f.Status.State == client.Running {
			return err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// players mints the tokens of the players.
func (i *installation) players() ([]string, error) {
	tokens := make([]string, players)
	for k := range tokens {
		var err error
		if tokens[k], err = i.Tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: fmt.Sprintf("player-%d", k),
			Project: i.project}); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

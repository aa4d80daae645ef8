package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/test/launch"
	"matchmaker.dev/services/test/workload"
)

// places is how many players a game of the second act has.
const places = 4

// secondAct lets players leave running games, and others join these.
func secondAct(ctx context.Context, s *launch.Matchmaker, o options, out io.Writer) error {
	fmt.Fprintf(out, "\nSecond act: %d games of %d. %d players leave, one of each game at a time, and others arrive.\n",
		o.Games, places, o.Leave)
	if err := step(out, "Uploading another match function and its config", func() error {
		return stage(ctx, s, o.Arena)
	}); err != nil {
		return err
	}
	a := &arena{server: s, patience: o.Patience, random: rand.New(rand.NewPCG(o.Seed, 1))} //nolint:gosec // a simulation
	if err := a.play(ctx, o, out); err != nil {
		return err
	}
	a.summary(out)
	return nil
}

// stage replaces the config of the first act by the second act's.
func stage(ctx context.Context, s *launch.Matchmaker, function string) error {
	studio, err := s.Client(auth.Developer, project, "studio")
	if err != nil {
		return err
	}
	if err := s.Upload(ctx, studio, "arena", function); err != nil {
		return err
	}
	if err := studio.DeleteConfig(ctx, "ranked"); err != nil {
		return err
	}
	config := workload.Config("arena", "skill", 3000, map[string]int{"players": places, "window": 300, "widen": 300})
	config.Hosting = &client.Hosting{Profile: "demo", FleetID: "local"}
	_, err = studio.PutConfig(ctx, "arena", config, "")
	return err
}

// arena is the games of the second act.
type arena struct {
	server   *launch.Matchmaker
	patience time.Duration
	random   *rand.Rand
	arrived  int

	games map[string][]*guest // who plays at a server
	waits []time.Duration     // of the players that joined a running game
}

// guest is a player of a game.
type guest struct {
	ticket, connection string
	waited             time.Duration
}

// play fills the games, and lets players leave and others arrive.
func (a *arena) play(ctx context.Context, o options, out io.Writer) error {
	var replaced atomic.Int64
	m := newMeter(out, func() string { return fmt.Sprintf("  left and replaced %3d of %d", replaced.Load(), o.Leave) })
	defer m.done()
	if err := a.open(ctx, o.Games*places); err != nil {
		return err
	}
	for left := 0; left < o.Leave; left += o.Games {
		n := min(o.Games, o.Leave-left)
		if err := a.replace(ctx, n); err != nil {
			return err
		}
		replaced.Add(int64(n))
	}
	return nil
}

// open lets the first players arrive.
func (a *arena) open(ctx context.Context, n int) error {
	guests, err := a.arrive(ctx, n)
	if err != nil {
		return err
	}
	a.games = map[string][]*guest{}
	for _, g := range guests {
		a.games[g.connection] = append(a.games[g.connection], g)
	}
	if len(a.games) != n/places {
		return fmt.Errorf("%d players were sent to %d games of %d", n, len(a.games), places)
	}
	return nil
}

// replace lets a random player of each of n games leave, and as many others arrive. They must take these places: there
// are no others.
func (a *arena) replace(ctx context.Context, n int) error {
	free := map[string]int{} // the place in each game
	for _, server := range slices.Sorted(maps.Keys(a.games))[:n] {
		i := a.random.IntN(len(a.games[server]))
		if err := gameservertest.Bye(ctx, server, a.games[server][i].ticket); err != nil {
			return err
		}
		free[server] = i
	}
	guests, err := a.arrive(ctx, n)
	if err != nil {
		return err
	}
	for _, g := range guests {
		i, ok := free[g.connection]
		if !ok {
			return fmt.Errorf("a player was sent to %s, where no place was free", g.connection)
		}
		delete(free, g.connection)
		a.games[g.connection][i] = g
		a.waits = append(a.waits, g.waited)
	}
	return nil
}

// arrive lets players arrive at the same time, and waits until each plays.
func (a *arena) arrive(ctx context.Context, n int) ([]*guest, error) {
	guests, errs := make([]*guest, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		a.arrived++
		name, skill := fmt.Sprintf("guest-%d", a.arrived), 1400+200*a.random.Float64()
		all.Go(func() { guests[i], errs[i] = a.join(ctx, name, skill) })
	}
	all.Wait()
	return guests, errors.Join(errs...)
}

// join creates a ticket, waits for the server and says hello to it.
func (a *arena) join(ctx context.Context, name string, skill float64) (*guest, error) {
	ctx, cancel := context.WithTimeout(ctx, a.patience)
	defer cancel()
	p := &player{name: name, skill: skill}
	api, err := a.server.Client(auth.Player, project, name)
	if err != nil {
		return nil, err
	}
	if err := p.play(ctx, api, a.patience); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := gameservertest.Meet(ctx, p.connection, p.ticket); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &guest{ticket: p.ticket, connection: p.connection, waited: p.waited}, nil
}

func (a *arena) summary(out io.Writer) {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendRow(table.Row{"games", len(a.games)})
	t.AppendRow(table.Row{"players who left, each replaced in the same game", len(a.waits)})
	t.AppendRow(table.Row{"time to somebody's place, half of them within",
		workload.Quantile(a.waits, 0.50).Round(time.Millisecond)})
	t.AppendRow(table.Row{"time to somebody's place, all within", workload.Quantile(a.waits, 1).Round(time.Millisecond)})
	t.Render()
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/test/launch"
)

// places is how many players a game of the second act has.
const places = 4

// secondAct lets players leave running games, and others join these.
func secondAct(ctx context.Context, s *launch.Matchmaker, o options, out io.Writer) error {
	fmt.Fprintf(out, "\nSecond act: %d games of %d. %d players leave, one after the other, and others arrive.\n",
		o.Games, places, o.Leave)
	if err := stage(ctx, s, o.Arena); err != nil {
		return err
	}
	a := &arena{server: s, patience: o.Patience, random: rand.New(rand.NewPCG(o.Seed, 1))} //nolint:gosec // a simulation
	if err := a.open(ctx, o.Games*places); err != nil {
		return err
	}
	for range o.Leave {
		if err := a.replace(ctx); err != nil {
			return err
		}
	}
	a.summary(out)
	return nil
}

// stage replaces the config of the first act by that of the second.
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
	_, err = studio.PutConfig(ctx, "arena", client.Config{
		Matchmaking: client.Matchmaking{
			Name:           "Arena",
			TargetFunction: &client.FunctionTarget{Name: "arena", Version: "1"},
			Config:         json.RawMessage(fmt.Sprintf(`{"players": %d, "window": 300, "widen": 300}`, places)),
		},
		Hosting: &client.Hosting{Profile: "demo", FleetID: "local"},
	}, "")
	return err
}

// arena is the games of the second act.
type arena struct {
	server   *launch.Matchmaker
	patience time.Duration
	random   *rand.Rand
	arrived  int

	players []*guest // in the game now
	servers map[string]bool
	waits   []time.Duration // of the players who joined a running game
}

// guest is a player of a game.
type guest struct {
	ticket, connection string
	waited             time.Duration
}

// open lets the first players arrive at the same time.
func (a *arena) open(ctx context.Context, n int) error {
	guests, errs := make([]*guest, n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		name, skill := a.newcomer()
		all.Go(func() { guests[i], errs[i] = a.join(ctx, name, skill) })
	}
	all.Wait()
	a.servers = map[string]bool{}
	for i, g := range guests {
		if errs[i] != nil {
			return errs[i]
		}
		a.players = append(a.players, g)
		a.servers[g.connection] = true
	}
	if len(a.servers) != n/places {
		return fmt.Errorf("%d players were sent to %d games of %d", n, len(a.servers), places)
	}
	return nil
}

// replace lets a random player leave and another one arrive. That one must join the same game, the only one with room.
func (a *arena) replace(ctx context.Context) error {
	i := a.random.IntN(len(a.players))
	gone := a.players[i]
	if err := gameserver.Bye(ctx, gone.connection, gone.ticket); err != nil {
		return err
	}
	name, skill := a.newcomer()
	g, err := a.join(ctx, name, skill)
	if err != nil {
		return err
	}
	if g.connection != gone.connection {
		return fmt.Errorf("%s was to take a place at %s, and was sent to %s", name, gone.connection, g.connection)
	}
	a.players[i] = g
	a.waits = append(a.waits, g.waited)
	return nil
}

func (a *arena) newcomer() (name string, skill float64) {
	a.arrived++
	return fmt.Sprintf("guest-%d", a.arrived), 1400 + 200*a.random.Float64()
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
	if _, err := gameserver.Meet(ctx, p.connection, p.ticket); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &guest{ticket: p.ticket, connection: p.connection, waited: p.waited}, nil
}

func (a *arena) summary(out io.Writer) {
	slices.Sort(a.waits)
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendRow(table.Row{"games", len(a.servers)})
	t.AppendRow(table.Row{"players who left, each replaced in the same game", len(a.waits)})
	t.AppendRow(table.Row{"time to somebody's place, half of them within",
		quantile(a.waits, 0.50).Round(time.Millisecond)})
	t.AppendRow(table.Row{"time to somebody's place, all within", quantile(a.waits, 1).Round(time.Millisecond)})
	t.Render()
}

package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/test/launch"
	"matchmaker.dev/services/test/workload"
)

// player is one simulated player and its result.
type player struct {
	name    string
	skill   float64
	arrives time.Duration
	hello   bool

	ticket     string
	waited     time.Duration
	connection string
	welcome    *gameserver.Welcome
	err        error
}

// crowd is all players.
type crowd struct {
	players  []*player
	patience time.Duration
	random   *rand.Rand
}

func newCrowd(o options) *crowd {
	c := &crowd{patience: o.Patience, random: rand.New(rand.NewPCG(o.Seed, 0))} //nolint:gosec // a simulation
	for i := range o.Players {
		c.players = append(c.players, &player{
			name:    fmt.Sprintf("player-%d", i+1),
			skill:   math.Round(min(max(1500+300*c.random.NormFloat64(), 0), 2999)),
			arrives: time.Duration(c.random.Float64() * float64(o.Over)),
			hello:   i < o.Hello,
		})
	}
	return c
}

// play lets all players arrive at their times, and returns when the last has its result.
func (c *crowd) play(ctx context.Context, s *launch.Matchmaker, out io.Writer) error {
	count := &tally{servers: map[string]bool{}}
	m := newMeter(out, count.line)
	defer m.done()
	var all sync.WaitGroup
	for _, p := range c.players {
		api, err := s.Client(auth.Player, project, p.name)
		if err != nil {
			return err
		}
		all.Go(func() {
			select {
			case <-ctx.Done():
				p.err = context.Cause(ctx)
				return
			case <-time.After(p.arrives):
			}
			count.arrived()
			p.err = p.play(ctx, api, c.patience)
			count.served(p.connection)
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// play creates a ticket and waits for its result.
func (p *player) play(ctx context.Context, api *client.Client, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	since := time.Now()
	ticket, err := workload.Play(ctx, api, client.TicketRequest{Attributes: map[string]float64{"skill": p.skill}})
	if err != nil {
		return err
	}
	p.ticket, p.waited = ticket.ID, time.Since(since)
	if p.connection = ticket.Assignment.Connection; p.connection == "" {
		return fmt.Errorf("the ticket was answered without a connection")
	}
	if p.hello {
		p.welcome, err = gameservertest.Hello(ctx, p.connection, p.ticket)
	}
	return err
}

// err is an error when a player got no server.
func (c *crowd) err() error {
	left := 0
	var why error
	for _, p := range c.players {
		if p.err != nil {
			left++
			why = fmt.Errorf("%s: %w", p.name, p.err)
		}
	}
	if left > 0 {
		return fmt.Errorf("%d of %d players were left without a game server, among them %w", left, len(c.players), why)
	}
	return nil
}

// matches groups the players by their servers.
func (c *crowd) matches() [][]*player {
	by := map[string][]*player{}
	for _, p := range c.players {
		if p.connection != "" {
			by[p.connection] = append(by[p.connection], p)
		}
	}
	matches := make([][]*player, 0, len(by))
	for _, m := range by {
		matches = append(matches, m)
	}
	return matches
}

func (c *crowd) summary(out io.Writer) {
	var waits []time.Duration
	welcomed := 0
	for _, p := range c.players {
		if p.connection != "" {
			waits = append(waits, p.waited)
		}
		if p.welcome != nil {
			welcomed++
		}
	}
	var gap float64
	matches, pairs := c.matches(), 0
	for _, m := range matches {
		if len(m) == 2 {
			gap += math.Abs(m[0].skill - m[1].skill)
			pairs++
		}
	}
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	t.AppendRow(table.Row{"players", len(c.players)})
	t.AppendRow(table.Row{"matches, each on a server of its own", len(matches)})
	t.AppendRow(table.Row{"said hello to their server, and were welcome", welcomed})
	t.AppendRow(table.Row{"time to a server, half of them within", workload.Quantile(waits, 0.50).Round(time.Millisecond)})
	t.AppendRow(table.Row{"time to a server, 99 % within", workload.Quantile(waits, 0.99).Round(time.Millisecond)})
	if pairs > 0 {
		t.AppendRow(table.Row{"mean distance in skill", fmt.Sprintf("%.0f", gap/float64(pairs))})
		t.AppendRow(table.Row{"mean distance if pairs were drawn by lot", fmt.Sprintf("%.0f", c.byLot())})
	}
	t.Render()
}

// byLot is the mean distance of random pairs.
func (c *crowd) byLot() float64 {
	const draws = 200
	var gap float64
	for range draws {
		order := c.random.Perm(len(c.players))
		for i := 0; i+1 < len(order); i += 2 {
			gap += math.Abs(c.players[order[i]].skill - c.players[order[i+1]].skill)
		}
	}
	return gap / draws / float64(len(c.players)/2)
}

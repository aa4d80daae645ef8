package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type ticketList struct {
	watchFlag
	Player  string           `completion-predictor:"player" help:"The player. Alone, it lists also tickets that have results."`
	Waiting bool             `help:"Only tickets that wait, as the studio sees them. That is the default without --player."`
	Queue   string           `completion-predictor:"queue" help:"Queue that they wait in."`
	NoQueue bool             `help:"Only those that wait in no queue."`
	Config  string           `completion-predictor:"config" help:"Config whose pools have them."`
	Pool    string           `help:"Pool of the config."`
	Between []attributeRange `name:"attribute" sep:"none" placeholder:"NAME=MIN..MAX" help:"Attribute that is in a range; either end may be missing. May be repeated."`
	MinAge  time.Duration    `help:"For how long they have waited at least." bounds:"0.."`
	MaxAge  time.Duration    `help:"For how long they have waited at most." bounds:"0.."`
	Limit   int              `default:"50" help:"How many to print; 0 for all." bounds:"0.."`
	Sample  bool             `help:"Print an even sample of all tickets that wait instead of the oldest ones; 200 at most."`
}

// Validate is called by the parser.
func (c ticketList) Validate() error {
	switch {
	case c.Pool != "" && c.Config == "":
		return usageError("--pool: give the --config that has it")
	case c.Config != "" && (c.Queue != "" || c.NoQueue), c.Queue != "" && c.NoQueue:
		return usageError("--config, --queue and --no-queue: give one of them")
	}
	return nil
}

// attributeRange is NAME=MIN..MAX.
type attributeRange struct{ client.PoolFilter }

// UnmarshalText reads a flag.
func (r *attributeRange) UnmarshalText(text []byte) error {
	name, bounds, found := strings.Cut(string(text), "=")
	least, most, both := strings.Cut(bounds, "..")
	if !found || !both || name == "" {
		return fmt.Errorf("%q is not NAME=MIN..MAX", text)
	}
	r.Attribute = name
	for _, end := range []struct {
		text string
		to   **float64
	}{{least, &r.Min}, {most, &r.Max}} {
		if end.text == "" {
			continue
		}
		n, err := strconv.ParseFloat(end.text, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return fmt.Errorf("%q is not NAME=MIN..MAX", text)
		}
		*end.to = &n
	}
	return nil
}

// ofPlayer reports whether the tickets of a player are asked for, also those with results.
func (c ticketList) ofPlayer() bool {
	return c.Player != "" && !c.Waiting && c.Queue == "" && !c.NoQueue && c.Config == "" && len(c.Between) == 0 &&
		c.MinAge == 0 && c.MaxAge == 0 && !c.Sample
}

// Run prints the tickets.
func (c ticketList) Run(ctx context.Context, s *session) error {
	claims, list := asDeveloper(), c.listWaiting
	if c.ofPlayer() {
		claims, list = asGameService(), c.listPlayers
	}
	api, err := s.connect(claims)
	if err != nil {
		return err
	}
	return list(ctx, s, api)
}

// listWaiting prints tickets that wait.
func (c ticketList) listWaiting(ctx context.Context, s *session, api *client.Client) error {
	q := client.WaitingQuery{Player: c.Player, Queue: c.Queue, NoQueue: c.NoQueue, Config: c.Config, Pool: c.Pool,
		MinAge: c.MinAge, MaxAge: c.MaxAge, Sample: c.Sample}
	for _, one := range c.Between {
		q.Filters = append(q.Filters, one.PoolFilter)
	}
	all, err := c.read(ctx, api, q)
	if err != nil {
		return err
	}
	g := grid{head: []any{"ticket", "waited", "players", "queues", "region", "attributes", "created", "owner"}, more: 2}
	for _, t := range all.Tickets {
		var attributes []string
		for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
			attributes = append(attributes, name+"="+number(t.Attributes[name]))
		}
		g.add(t.ID, format.Number(t.Waited)+" s", strings.Join(t.Players, " "), strings.Join(t.Queues, " "), t.Region,
			strings.Join(attributes, " "), formatTime(time.UnixMilli(t.Created)), t.Owner)
	}
	if len(all.Tickets) == 0 {
		s.note("no such ticket waits in project %s", s.Project)
		s.noteIfUnknown(ctx, api)
	}
	if n := int64(len(all.Tickets)); all.Total > n {
		s.note("%d of %s", n, format.Plural(all.Total, "ticket"))
	}
	return s.show(all, g.withoutEmptyColumns())
}

// read reads pages.
func (c ticketList) read(ctx context.Context, api *client.Client, q client.WaitingQuery) (*client.WaitingPage, error) {
	return readPages(c.Limit, func(limit int, after string) (*client.WaitingPage, error) {
		q.Limit, q.After = limit, after
		return api.GetWaitingTickets(ctx, q)
	}, func(p *client.WaitingPage) (*[]client.WaitingTicket, string) { return &p.Tickets, p.Next })
}

// listPlayers prints the tickets of a player.
func (c ticketList) listPlayers(ctx context.Context, s *session, api *client.Client) error {
	tickets, err := api.Tickets(ctx, c.Player)
	if err != nil {
		return err
	}
	if len(tickets) == 0 {
		s.note("the player has no tickets in project %s", s.Project)
	}
	g := grid{head: []any{"ticket", "created", "state", "connection", "error", "queues", "match properties"}, more: 2}
	for _, t := range tickets {
		shared := ""
		state, connection, failure := "waiting", "", ""
		if t.Assignment != nil {
			state, connection, failure = "matched", t.Assignment.Connection, t.Assignment.Error
			shared = format.JSON(t.Assignment.MatchProperties)
		}
		g.add(t.ID, formatTime(time.UnixMilli(t.Created)), state, connection, failure, strings.Join(t.Queues, " "), shared)
	}
	return s.show(tickets, g.withoutEmptyColumns())
}

package main

import (
	"context"
	"time"

	"matchmaker.dev/pkg/client"
)

// pages says how much of a list is printed.
type pages struct {
	Limit int `default:"50" help:"How many to print; 0 for all." bounds:"0.."`
}

// mostListed is how many entries are asked for at a time.
const mostListed = 200

// readPages reads pages of a list until it ends or has as many entries as it may, 0 for all. It returns the last page,
// with the entries of all. parts are the entries of a page and the place behind them.
func readPages[P, E any](
	most int, read func(limit int, after string) (*P, error), parts func(*P) (entries *[]E, next string),
) (*P, error) {
	all := []E{}
	for after := ""; ; {
		limit := mostListed
		if most > 0 {
			limit = min(limit, most-len(all))
		}
		page, err := read(limit, after)
		if err != nil {
			return nil, err
		}
		var entries *[]E
		entries, after = parts(page)
		all = append(all, *entries...)
		*entries = all
		if after == "" || most > 0 && len(all) >= most {
			return page, nil
		}
	}
}

type matchList struct {
	pages
	State  string        `enum:",asking,claimed,allocating,proposed,assigned" default:"" placeholder:"STATE" help:"Only matches in this state: asking, claimed, allocating, proposed or assigned."`
	Config string        `completion-predictor:"config" help:"Only matches of this config."`
	Queue  string        `completion-predictor:"queue" help:"Only matches of configs that serve this queue."`
	Region string        `help:"Only matches in this region."`
	Fleet  string        `help:"Only matches of this fleet."`
	MinAge time.Duration `help:"How long ago they were made at least."`
	MaxAge time.Duration `help:"How long ago they were made at most."`
}

// Run prints the matches.
func (c matchList) Run(ctx context.Context, s *session, api developerAPI) error {
	all, err := readPages(c.Limit, func(limit int, after string) (*client.MatchPage, error) {
		return api.ListMatches(ctx, client.MatchQuery{State: c.State, Config: c.Config, Queue: c.Queue,
			Region: c.Region, Fleet: c.Fleet, MinAge: c.MinAge, MaxAge: c.MaxAge, Limit: limit, After: after})
	}, func(p *client.MatchPage) (*[]client.ListedMatch, string) { return &p.Matches, p.Next })
	if err != nil {
		return err
	}
	s.note("%d without a result, %d that go to running games, %d with one, %d servers to give back", all.Open, all.Joining,
		all.Ended, all.Returning)
	return s.show(all, tableOf(all.Matches,
		"match=id, state, config, queue, age:s, fleet, region, backfill, +created:time, +allocated:time"))
}

type backfillList struct {
	pages
	ID    string `name:"id" completion-predictor:"backfill" help:"Only this backfill ticket."`
	Queue string `completion-predictor:"queue" help:"Only games whose players come from this queue."`
}

// Run prints the backfill tickets.
func (c backfillList) Run(ctx context.Context, s *session, api developerAPI) error {
	all, err := readPages(c.Limit, func(limit int, after string) (*client.BackfillPage, error) {
		return api.ListBackfills(ctx, client.BackfillQuery{ID: c.ID, Queue: c.Queue, Limit: limit,
			After: after})
	}, func(p *client.BackfillPage) (*[]client.ListedBackfillTicket, string) {
		return &p.BackfillTickets, p.Next
	})
	if err != nil {
		return err
	}
	return s.show(all, tableOf(all.BackfillTickets,
		"backfill=Id, state, queue, connection=Connection, players, joining, age:s, heard:s ago, +match"))
}

type queueCommands struct {
	List queueList `cmd:"" help:"List the queues that a config serves or in which tickets wait, and how many wait."`
}

type queueList struct{ watchFlag }

// Run prints the queues.
func (queueList) Run(ctx context.Context, s *session, api developerAPI) error {
	all, err := api.ListQueues(ctx)
	if err != nil {
		return err
	}
	return s.show(all, tableOf(all.Queues, "queue:(none), tickets, players, oldest:s, configs"))
}

type changesCommand struct {
	pages
	Kind string `enum:",config,settings,function,player,key" default:"" placeholder:"KIND" help:"Only changes of this kind: config, settings, function, player (an erasure) or key (of game servers' tokens)."`
	Name string `help:"Only changes of the config, function or key of this name."`
	By   string `help:"Only those by this subject."`
}

// Run prints the changes.
func (c changesCommand) Run(ctx context.Context, s *session, api developerAPI) error {
	all, err := readPages(c.Limit, func(limit int, after string) (*client.ChangePage, error) {
		return api.ListChanges(ctx, client.ChangeQuery{Kind: c.Kind, Name: c.Name, By: c.By, Limit: limit,
			After: after})
	}, func(p *client.ChangePage) (*[]client.Change, string) { return &p.Changes, p.Next })
	if err != nil {
		return err
	}
	return s.show(all, tableOf(all.Changes, "time:time, by, kind, name, action, etag, upload, +detail"))
}

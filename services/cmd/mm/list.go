package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

// pages says how much of a list is printed.
type pages struct {
	Limit int `default:"50" help:"How many to print; 0 for all."`
}

// Validate is called by the parser.
func (p pages) Validate() error {
	if p.Limit < 0 {
		return usageError("--limit must be 0 or more")
	}
	return nil
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

func (matchList) Help() string {
	return `Prints the matches that begin, and those that have a server, as far as the service knows: until their result,
or until the token of their server has ended. Matches without hosting end when they are made, and are not listed. The
role Support is enough.

Examples:

    mm match list
    mm match list --state allocating --min-age 10s
    mm match list --config ranked --region eu --limit 0`
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
	g := grid{more: 2, head: []any{"match", "state", "config", "queue", "age", "fleet", "region", "backfill", "created",
		"allocated"}}
	for _, m := range all.Matches {
		g.add(m.ID, m.State, m.Config, m.Queue, format.Number(m.Age)+" s", m.Fleet, m.Region, m.Backfill,
			formatTime(m.Created), formatTime(m.Allocated))
	}
	s.note("%d without a result, %d that go to running games, %d with one, %d servers to give back", all.Open, all.Joining,
		all.Ended, all.Returning)
	return s.show(all, g.withoutEmptyColumns())
}

type backfillList struct {
	pages
	Queue string `completion-predictor:"queue" help:"Only games whose players come from this queue."`
}

// Run prints the backfill tickets.
func (c backfillList) Run(ctx context.Context, s *session, api developerAPI) error {
	all, err := readPages(c.Limit, func(limit int, after string) (*client.BackfillPage, error) {
		return api.ListBackfills(ctx, client.BackfillQuery{Queue: c.Queue, Limit: limit, After: after})
	}, func(p *client.BackfillPage) (*[]client.ListedBackfillTicket, string) {
		return &p.BackfillTickets, p.Next
	})
	if err != nil {
		return err
	}
	g := grid{more: 1, head: []any{"backfill", "state", "queue", "connection", "players", "joining", "age", "heard",
		"match"}}
	for _, b := range all.BackfillTickets {
		g.add(b.ID, b.State, b.Queue, b.Connection, strings.Join(b.Players, " "), b.Joining, format.Number(b.Age)+" s",
			format.Number(b.Heard)+" s ago", b.Match)
	}
	return s.show(all, g.withoutEmptyColumns())
}

type queueCommands struct {
	List queueList `cmd:"" help:"List the queues that a config serves or in which tickets wait, and how many wait." example:"queue list --watch"`
}

type queueList struct{ watchFlag }

// Run prints the queues.
func (c queueList) Run(ctx context.Context, forever untimed, s *session, api developerAPI) error {
	return c.repeat(ctx, forever, s, func(ctx context.Context, s *session) error {
		all, err := api.ListQueues(ctx)
		if err != nil {
			return err
		}
		g := grid{head: []any{"queue", "tickets", "players", "oldest", "configs"}}
		for _, q := range all.Queues {
			g.add(cmp.Or(q.Queue, "(none)"), q.Tickets, q.Players, format.Number(q.Oldest)+" s",
				strings.Join(q.Configs, " "))
		}
		return s.show(all, g)
	})
}

type changesCommand struct {
	pages
	Kind string `enum:",config,settings,function,player" default:"" placeholder:"KIND" help:"Only changes of this kind: config, settings, function or player (an erasure)."`
	Name string `help:"Only changes of the config or function of this name."`
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
	g := grid{head: []any{"time", "by", "kind", "name", "action", "etag", "upload", "detail"}, more: 1}
	for _, one := range all.Changes {
		upload := ""
		if one.Upload > 0 {
			upload = format.Number(float64(one.Upload))
		}
		g.add(formatTime(one.Time.Truncate(time.Second)), one.By, one.Kind, one.Name, one.Action, one.ETag, upload,
			one.Detail)
	}
	return s.show(all, g.withoutEmptyColumns())
}

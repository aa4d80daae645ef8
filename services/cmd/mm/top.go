package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type topCommand struct {
	Interval time.Duration `default:"5s" help:"How often to look." bounds:"1s.."`
	Once     bool          `help:"Print it once, and end."`
}

// clearScreen moves the cursor of a terminal to the top and removes what is below.
const clearScreen = "\x1b[H\x1b[J"

// Run prints what there is to see.
func (c topCommand) Run(ctx context.Context, watch untimed, s *session) error {
	if !c.Once {
		ctx = watch
	}
	api, err := s.connect(asDeveloper(), reconnecting)
	if err != nil {
		return err
	}
	recent := newRecent(s.now())
	for {
		seen, err := look(ctx, api, recent, s.now())
		switch {
		case ctx.Err() != nil && !c.Once:
			return nil // Ctrl-C is how watching ends
		case err != nil:
			return err
		}
		if err := s.showTop(seen, !c.Once && s.width > 0); err != nil {
			return err
		}
		if c.Once || s.sleep(ctx, c.Interval) != nil {
			return nil //nolint:nilerr // likewise
		}
	}
}

// top is what is seen at a time.
type top struct {
	Time    time.Time   `json:"time"`
	Project string      `json:"project"`
	Waiting int64       `json:"waiting"`
	Configs []topConfig `json:"configs"`
	// Unserved are queues that no config serves, in which tickets wait.
	Unserved  []topQueue    `json:"unserved,omitempty"`
	Functions []topFunction `json:"functions"`
	// Partial says why not all is seen.
	Partial string `json:"partial,omitempty"`
}

// topConfig is a config: its waiting tickets, and its matches within the last minute. MatchesPerSecond and what follows
// are about these.
type topConfig struct {
	Config           string    `json:"config"`
	Queue            string    `json:"queue,omitempty"`
	Pools            []topPool `json:"pools"`
	MatchesPerSecond float64   `json:"matchesPerSecond"`
	Tickets          int       `json:"tickets"`
	// Waited is for how many seconds half of these tickets waited at most; nil without any.
	Waited *float64 `json:"waited,omitempty"`
	// Assigned, Failed and Released are how many matches ended so, and Full how often hosting had no server.
	Assigned int `json:"assigned"`
	Failed   int `json:"failed"`
	Released int `json:"released"`
	Full     int `json:"full"`
}

// topPool is a pool of a config; without a name, all that the config sees.
type topPool struct {
	Pool    string `json:"pool,omitempty"`
	Waiting int64  `json:"waiting"`
	// Oldest is for how many seconds the oldest ticket has waited.
	Oldest float64 `json:"oldest"`
}

// oldest is for how long the oldest ticket has waited; empty if none waits.
func (p topPool) oldest() string {
	if p.Waiting == 0 {
		return ""
	}
	return numberOf(&p.Oldest, "s")
}

// topQueue counts the tickets that wait in a queue; without a name, in none.
type topQueue struct {
	Queue string `json:"queue,omitempty"`
	topPool
}

// topFunction is a function.
type topFunction struct {
	Function  string `json:"function"`
	State     string `json:"state"`
	Instances int    `json:"instances"`
	// Canary says which upload is the canary, and how far it is; empty without one.
	Canary string `json:"canary,omitempty"`
}

// mostPools bounds the pools whose tickets are counted: each costs runners some time.
const mostPools = 16

// look looks at a project.
func look(ctx context.Context, api *client.Client, r *recent, now time.Time) (*top, error) {
	t := &top{Time: now.UTC(), Configs: []topConfig{}, Functions: []topFunction{}}
	if err := r.read(ctx, api, now); err != nil {
		return nil, err
	}
	if r.behind {
		t.Partial = "there are more matches than can be counted"
	}
	functions, err := api.ListFunctions(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range functions {
		t.Functions = append(t.Functions, topFunction{f.Name, f.Status.State, len(f.Status.Instances), canaryOf(&f)})
	}
	configs, err := api.ListConfigs(ctx)
	if err != nil {
		return nil, err
	}
	queues, err := api.ListQueues(ctx)
	if queues, err = allowUnknown(queues, err, t); err != nil {
		return nil, err
	}
	t.Waiting = queues.Tickets
	t.showUnserved(queues.Queues)
	pools := 0
	for _, c := range configs {
		one := topConfig{Config: c.ID, Queue: c.Queue, Pools: []topPool{}}
		r.add(&one)
		names := []string{""}
		if c.Pools > 1 {
			if names, err = poolNames(ctx, api, c.ID); err != nil {
				return nil, err
			}
		}
		for _, name := range names {
			if pools++; pools > mostPools {
				t.Partial = fmt.Sprintf("it is looked at %d pools at most", mostPools)
				break
			}
			pool, err := waitingIn(ctx, api, client.WaitingQuery{Config: c.ID, Pool: name}, t)
			if err != nil {
				return nil, err
			}
			pool.Pool = name
			one.Pools = append(one.Pools, *pool)
		}
		t.Configs = append(t.Configs, one)
	}
	return t, nil
}

// poolNames are the names of a config's pools.
func poolNames(ctx context.Context, api *client.Client, id string) ([]string, error) {
	config, err := api.GetConfig(ctx, id)
	switch {
	case client.IsNotFound(err): // it was deleted since
		return nil, nil
	case err != nil:
		return nil, err
	}
	return slices.Sorted(maps.Keys(config.Pools)), nil
}

// showUnserved adds the queues in which tickets wait that no config serves.
func (t *top) showUnserved(queues []client.Queue) {
	for _, q := range queues {
		switch {
		case len(q.Configs) > 0 || q.Tickets == 0:
		case len(t.Unserved) == mostPools:
			t.Partial = fmt.Sprintf("it is looked at %d queues that no config serves at most", mostPools)
		default:
			t.Unserved = append(t.Unserved, topQueue{q.Queue, topPool{Waiting: q.Tickets, Oldest: q.Oldest}})
		}
	}
}

// allowUnknown returns what was read of tickets that wait. Where that is unknown, it is empty and t says why.
func allowUnknown[T any](read *T, err error, t *top) (*T, error) {
	switch client.Status(err) {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		t.Partial = "waiting tickets are not known: no function runs, or they were listed too often"
		return new(T), nil
	}
	return read, err
}

// waitingIn looks how many wait.
func waitingIn(ctx context.Context, api *client.Client, q client.WaitingQuery, t *top) (*topPool, error) {
	q.Limit = 1
	page, err := api.GetWaitingTickets(ctx, q)
	if client.IsNotFound(err) { // the config was deleted since
		return &topPool{}, nil
	}
	if page, err = allowUnknown(page, err, t); err != nil {
		return nil, err
	}
	pool := &topPool{Waiting: page.Total}
	for _, k := range page.Tickets {
		pool.Oldest = k.Waited
	}
	return pool, nil
}

// showTop prints what is seen, in place of what was seen before if it is to replace that.
func (s *session) showTop(t *top, replace bool) error {
	t.Project = s.Project
	if s.structured() {
		return s.printNext(t)
	}
	configs := grid{head: []any{"config", "queue", "pool", "waiting", "oldest", "matches/s", "tickets", "half waited",
		"assigned", "failed", "released", "full"}}
	for _, c := range t.Configs {
		rest := []any{format.Number(c.MatchesPerSecond), c.Tickets, numberOf(c.Waited, "s"), c.Assigned, c.Failed,
			c.Released, c.Full}
		for _, p := range c.Pools {
			configs.add(append([]any{c.Config, c.Queue, p.Pool, p.Waiting, p.oldest()}, rest...)...)
			rest = []any{"", "", "", "", "", "", ""} // of the config, once
		}
	}
	for _, q := range t.Unserved {
		queue := cmp.Or(q.Queue, "(none)")
		configs.add("(no config serves it)", queue, "", q.Waiting, q.oldest(), "", "", "", "", "", "", "")
	}
	parts := []string{fmt.Sprintf("%s  %s  %s wait", t.Project, t.Time.Format("2006-01-02 15:04:05"),
		format.Plural(t.Waiting, "ticket"))}
	if len(t.Configs) == 0 {
		parts[0] += "  (there are no configs: is that the project's name?)"
	}
	if t.Partial != "" {
		parts[0] += "  (" + t.Partial + ")"
	}
	for _, g := range []grid{configs.withoutEmptyColumns(), tableOf(t.Functions, "function, state, instances, canary")} {
		if len(g.rows) > 0 {
			parts = append(parts, g.String())
		}
	}
	text := strings.Join(parts, "\n\n") + "\n"
	if replace {
		text = clearScreen + text
	}
	_, err := fmt.Fprintln(s.out, text)
	return err
}

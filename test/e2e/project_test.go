package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// project is the project of one scenario.
type project struct {
	s    *system
	name string
}

// project returns a project that has the name of the test.
func (s *system) project(t *testing.T) *project {
	return &project{s: s, name: strings.ToLower(path.Base(t.Name()))}
}

// client returns a client and its token. It repeats no request, so that tests see every failure.
func (p *project) client(c issuer.Claims) (*client.Client, string, error) {
	c.Project = p.name
	token, err := p.s.tokens.Mint(c)
	if err != nil {
		return nil, "", err
	}
	api, err := client.New(client.Options{
		URL: p.s.front(), Project: p.name, Token: client.StaticToken(token), HTTP: p.s.http,
		Retry: client.Retry{Attempts: -1, Reconnects: -1},
	})
	return api, token, err
}

func (p *project) as(t *testing.T, c issuer.Claims) *client.Client {
	t.Helper()
	api, _, err := p.client(c)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func (p *project) developer(t *testing.T) *client.Client {
	t.Helper()
	return p.as(t, issuer.Claims{Kind: auth.Developer, Subject: "developer", Role: "Owner"})
}

// within is a context that ends when the tests lose patience.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// upload uploads an archive as a function. The function runs a moment later.
func (p *project) upload(t *testing.T, function, archive string) {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := p.developer(t).PutFunction(within(t), function, "", file); err != nil {
		t.Fatal(err)
	}
}

// rest deletes the project's configs and functions, or tickets that still wait would have them run beside the scenarios
// that follow, and restarts would start them. It fails no test: a scenario may have used up the project's limits.
func (p *project) rest(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	studio := p.developer(t)
	configs, err := studio.ListConfigs(ctx)
	for _, c := range configs {
		err = errors.Join(err, studio.DeleteConfig(ctx, c.ID))
	}
	functions, listed := studio.ListFunctions(ctx)
	for _, f := range functions {
		listed = errors.Join(listed, studio.DeleteFunction(ctx, f.Name))
	}
	if err = errors.Join(err, listed); err != nil {
		t.Logf("the project is not at rest: %v", err)
	}
}

// rules describe a config.
type rules struct {
	function string
	settings map[string]any
	// side is the value that the attribute "side" of the pool's tickets has; any when it is 0.
	side    float64
	hosting bool
	seats   bool
}

// put puts a config.
func (p *project) put(t *testing.T, id string, r rules) {
	t.Helper()
	settings, err := json.Marshal(r.settings)
	if err != nil {
		t.Fatal(err)
	}
	c := client.Config{Matchmaking: client.Matchmaking{
		TargetFunction: client.FunctionTarget{Name: r.function, Version: "1"}, Config: settings,
	}}
	if r.side != 0 {
		c.Pools = map[string][]client.PoolFilter{"side": {{Attribute: "side", Min: &r.side, Max: &r.side}}}
	}
	c.Seats = r.seats
	if r.hosting {
		c.Hosting = &client.Hosting{Profile: "profile", FleetID: "fleet"}
	}
	if _, err := p.developer(t).PutConfig(within(t), id, c, ""); err != nil {
		t.Fatal(err)
	}
}

// ranked makes the project match tickets on game servers whose skills differ by 100 or less: a side's tickets, or all
// when side is 0.
func (p *project) ranked(t *testing.T, id string, side float64) {
	t.Helper()
	p.put(t, id, rules{
		function: "duel", settings: map[string]any{"attribute": "skill", "window": 100,
			"widen": 0}, side: side, hosting: true,
	})
}

// create creates a ticket.
func (p *project) create(ctx context.Context, player string, a attributes) (*ticket, error) {
	return p.request(ctx, player, client.TicketRequest{Attributes: a})
}

// request creates a ticket.
func (p *project) request(ctx context.Context, player string, r client.TicketRequest) (*ticket, error) {
	k := &ticket{p: p, player: player}
	api, err := k.client()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", player, err)
	}
	if k.id, err = api.CreateTicket(ctx, r); err != nil {
		return nil, fmt.Errorf("%s: %w", player, err)
	}
	return k, nil
}

func (p *project) ticket(t *testing.T, player string, a attributes) *ticket {
	t.Helper()
	k, err := p.create(within(t), player, a)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// match creates two tickets and waits until they are matched, which proves that cycles run.
func (p *project) match(t *testing.T, a attributes) {
	t.Helper()
	together(t, p.ticket(t, "passer-by-1", a), p.ticket(t, "passer-by-2", a))
}

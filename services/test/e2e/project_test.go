package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
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

// rules describe a config.
type rules struct {
	function string
	settings map[string]any
	// side is the value that the attribute "side" of the pool's tickets has; any when it is 0.
	side    float64
	hosting bool
}

// put puts a config.
func (p *project) put(t *testing.T, id string, r rules) {
	t.Helper()
	settings, err := json.Marshal(r.settings)
	if err != nil {
		t.Fatal(err)
	}
	c := client.Config{Matchmaking: client.Matchmaking{
		TargetFunction: &client.FunctionTarget{Name: r.function, Version: "1"}, Config: settings,
	}}
	if r.side != 0 {
		c.Pools = map[string][]client.PoolFilter{"side": {{Attribute: "side", Min: &r.side, Max: &r.side}}}
	}
	if r.hosting {
		c.Hosting = &client.Hosting{Profile: "profile", FleetID: "fleet"}
	}
	if _, err := p.developer(t).PutConfig(within(t), id, c, ""); err != nil {
		t.Fatal(err)
	}
}

// ranked makes the project match tickets on game servers whose skills differ by 100 or less: those of a side, or all
// when side is 0.
func (p *project) ranked(t *testing.T, id string, side float64) {
	t.Helper()
	p.put(t, id, rules{
		function: "duel", settings: map[string]any{"attribute": "skill", "window": 100,
			"widen": 0}, side: side, hosting: true,
	})
}

// ticket is a ticket that was created.
type ticket struct {
	p          *project
	id, player string
}

// client returns a client of the player. A system that was started again may have another URL, so each call returns a
// new one.
func (k *ticket) client() (*client.Client, error) {
	api, _, err := k.p.client(k.claims())
	return api, err
}

func (k *ticket) claims() issuer.Claims { return issuer.Claims{Kind: auth.Player, Subject: k.player} }

func (k *ticket) api(t *testing.T) *client.Client {
	t.Helper()
	return k.p.as(t, k.claims())
}

// attributes of a ticket.
type attributes map[string]float64

// create creates a ticket.
func (p *project) create(ctx context.Context, player string, a attributes) (*ticket, error) {
	k := &ticket{p: p, player: player}
	api, err := k.client()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", player, err)
	}
	if k.id, err = api.CreateTicket(ctx, client.TicketRequest{Attributes: a}); err != nil {
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

// await waits for the ticket's assignment.
func (k *ticket) await(ctx context.Context) (*client.Assignment, error) {
	api, err := k.client()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.player, err)
	}
	got, err := api.Wait(ctx, k.id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.player, err)
	}
	return got.Assignment, nil
}

func (k *ticket) result(t *testing.T) *client.Assignment {
	t.Helper()
	got, err := k.await(within(t))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// connection waits for a ticket's assignment, which must be a connection.
func (k *ticket) connection(t *testing.T) string {
	t.Helper()
	a := k.result(t)
	if a.Error != "" || a.Connection == "" {
		t.Fatalf("%s: want a connection, got %+v", k.player, a)
	}
	return a.Connection
}

// now reads the ticket's assignment; nil while it waits.
func (k *ticket) now(t *testing.T) *client.Assignment {
	t.Helper()
	got, err := k.api(t).GetTicket(within(t), k.id)
	if err != nil {
		t.Fatalf("%s: %v", k.player, err)
	}
	return got.Assignment
}

// mustWait fails the test unless the ticket waits.
func (k *ticket) mustWait(t *testing.T) {
	t.Helper()
	if got := k.now(t); got != nil {
		t.Fatalf("%s should still wait, but is assigned %+v", k.player, got)
	}
}

// delete deletes the ticket.
func (k *ticket) delete(t *testing.T) {
	t.Helper()
	if err := k.api(t).DeleteTicket(within(t), k.id, ""); err != nil {
		t.Fatalf("%s: %v", k.player, err)
	}
}

// mustNotExist fails the test unless there is no such ticket.
func (k *ticket) mustNotExist(t *testing.T) {
	t.Helper()
	if got, err := k.api(t).GetTicket(within(t), k.id); client.Status(err) != http.StatusNotFound {
		t.Fatalf("%s: want 404, got %+v, %v", k.player, got, err)
	}
}

// hello says hello to a game server, which must welcome the ticket.
func (k *ticket) hello(t *testing.T, connection string) *gameserver.Welcome {
	t.Helper()
	w, err := gameserver.Hello(within(t), connection, k.id)
	if err != nil {
		t.Fatalf("%s at %s: %v", k.player, connection, err)
	}
	return w
}

// mustBeStranger fails the test unless the game server refuses the ticket.
func (k *ticket) mustBeStranger(t *testing.T, connection string) {
	t.Helper()
	if _, err := gameserver.Hello(within(t), connection, k.id); !errors.Is(err, gameserver.ErrStranger) {
		t.Fatalf("%s at %s: want %v, got %v", k.player, connection, gameserver.ErrStranger, err)
	}
}

// together fails the test unless two tickets have the same connection, which it returns.
func together(t *testing.T, a, b *ticket) string {
	t.Helper()
	at, bt := a.connection(t), b.connection(t)
	if at != bt {
		t.Fatalf("%s is sent to %s, %s to %s: want them together", a.player, at, b.player, bt)
	}
	return at
}

// match creates two tickets and waits until they are matched, which proves that cycles run.
func (p *project) match(t *testing.T, a attributes) {
	t.Helper()
	together(t, p.ticket(t, "passer-by-1", a), p.ticket(t, "passer-by-2", a))
}

// request is an HTTP request below the project's matchmaking/api/, for tests that need more than package client shows.
type request struct {
	method, path string
	token        string
	header       map[string]string
	body         string
}

// answer is the answer to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (p *project) send(ctx context.Context, r request) (answer, error) {
	address := p.s.front() + "/" + p.name + "/matchmaking/api/" + r.path
	in, err := http.NewRequestWithContext(ctx, r.method, address, strings.NewReader(r.body))
	if err != nil {
		return answer{}, err
	}
	if r.body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	if r.token != "" {
		in.Header.Set("Authorization", "Bearer "+r.token)
	}
	for name, value := range r.header {
		in.Header.Set(name, value)
	}
	out, err := p.s.http.Do(in)
	if err != nil {
		return answer{}, err
	}
	defer out.Body.Close()
	body, err := io.ReadAll(out.Body)
	return answer{out.StatusCode, out.Header, body}, err
}

func (p *project) mustSend(t *testing.T, r request) answer {
	t.Helper()
	a, err := p.send(within(t), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (a answer) String() string { return fmt.Sprintf("%d %v %s", a.status, a.header, a.body) }

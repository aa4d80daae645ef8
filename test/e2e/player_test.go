package e2e

import (
	"encoding/json"
	"errors"
	"os/exec"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest/proxy"
	"matchmaker.dev/services/internal/platform/process"
)

// mm is a command of the program mm with a player's token. It prints JSON.
func (p *project) mm(t *testing.T, player string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := p.command(t, p.token(t, player), append(args, "--timeout", patience.String())...)
	cmd.Env = append(cmd.Env, "MM_OUTPUT=json")
	return cmd
}

// command is a command of the program mm with a token.
func (p *project) command(t *testing.T, token string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(within(t), p.s.made.mm, args...)
	cmd.Env = []string{"MM_URL=" + p.s.front(), "MM_PROJECT=" + p.name, "MM_TOKEN=" + token}
	return cmd
}

// run runs a command of mm to its end, and decodes what it prints into the value at into, unless that is nil.
func (p *project) run(t *testing.T, into any, player string, args ...string) {
	t.Helper()
	cmd := p.mm(t, player, args...)
	text, err := cmd.Output()
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, failed.Stderr)
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, text)
	}
}

// watcher starts a process that watches a player's party. It ends with the test, or when it is killed.
func (p *project) watcher(t *testing.T, player string) *replica {
	t.Helper()
	r := &replica{name: "mm of " + player, log: new(buffer)}
	cmd := p.mm(t, player, "party", "watch")
	cmd.Stdout, cmd.Stderr = r.log, r.log
	var err error
	if r.Process, err = process.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Kill)
	return r
}

// createLosing creates a ticket over a connection that breaks after the service has stored the ticket and before the
// client has the answer. The client repeats the request over a new one.
func (p *project) createLosing(t *testing.T, player string, r client.TicketRequest) *ticket {
	t.Helper()
	way, lost := newProxy(t, p.s.front()), 0
	way.Set(proxy.Deaf) // the request passes, the answer is held
	api, err := client.New(client.Options{URL: "http://" + way.Address(), Project: p.name,
		Token: client.StaticToken(p.token(t, player)),
		Retry: client.Retry{Notify: func(error, time.Duration) { lost++; way.Set(proxy.Open) }}})
	if err != nil {
		t.Fatal(err)
	}
	k := &ticket{p: p, player: player}
	created := make(chan error, 1)
	go func() {
		var err error
		k.id, err = api.CreateTicket(t.Context(), r)
		created <- err
	}()
	var stored []*client.Ticket
	eventually(t, "the ticket of "+player+" is stored", func() bool {
		stored, _ = p.player(t, player).Tickets(within(t), player)
		return len(stored) > 0
	})
	way.Set(proxy.Refused) // resets the connection
	if err := <-created; err != nil || lost != 1 || k.id != stored[0].ID {
		t.Fatalf("%s: ticket %q, %v after %d lost answers; stored is %s", player, k.id, err, lost, stored[0].ID)
	}
	return k
}

// token is the token of a player.
func (p *project) token(t *testing.T, player string) string {
	t.Helper()
	_, token, err := p.client(issuer.Claims{Kind: auth.Player, Subject: player})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

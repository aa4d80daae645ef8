package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// private: for another player a ticket does not exist. A game service may read it.
func private(t *testing.T, p *project) {
	ada := p.ticket(t, "ada", attributes{"skill": 1})
	mallory := p.as(t, issuer.Claims{Kind: auth.Player, Subject: "mallory"})
	if _, err := mallory.GetTicket(within(t), ada.id); client.Status(err) != http.StatusNotFound {
		t.Errorf("mallory reads ada's ticket: want 404, got %v", err)
	}
	if err := mallory.DeleteTicket(within(t), ada.id, ""); client.Status(err) != http.StatusNotFound {
		t.Errorf("mallory deletes ada's ticket: want 404, got %v", err)
	}
	lobby := p.as(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeRead})
	if _, err := lobby.GetTicket(within(t), ada.id); err != nil {
		t.Errorf("a game service reads ada's ticket: %v", err)
	}
	ada.mustWait(t)
}

// denyAccess: without a valid token the answer is 401, with a token for something else 403, both with a problem as
// body.
func denyAccess(t *testing.T, p *project) {
	token := func(c issuer.Claims) string {
		_, token, err := p.client(c)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	player := token(issuer.Claims{Kind: auth.Player, Subject: "ada"})
	developer := token(issuer.Claims{Kind: auth.Developer, Subject: "dev", Role: "Manager"})
	foreign, err := p.s.tokens.Mint(issuer.Claims{Kind: auth.Player, Subject: "ada", Project: "another"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		request
		want int
	}{
		"no token":             {request{method: "POST", path: "v1/tickets", body: "{}"}, 401},
		"a forged token":       {request{method: "POST", path: "v1/tickets", body: "{}", token: forged(player)}, 401},
		"another project's":    {request{method: "POST", path: "v1/tickets", body: "{}", token: foreign}, 403},
		"a developer's ticket": {request{method: "POST", path: "v1/tickets", body: "{}", token: developer}, 403},
		"somebody else's ticket": {request{method: "POST", path: "v1/tickets", body: "{}", token: player,
			header: map[string]string{"X-On-Behalf-Of": "bob"}}, 403},
		"a player's config":   {request{method: "GET", path: "v1/configs/ranked", token: player}, 403},
		"a player's function": {request{method: "GET", path: "v1/functions", token: player}, 403},
		"a guest's config": {request{method: "GET", path: "v1/configs/ranked",
			token: token(issuer.Claims{Kind: auth.Developer, Subject: "dev", Role: "Guest"})}, 403},
		"a player's backfill": {request{method: "POST", path: "v2/backfill", body: "{}", token: player}, 403},
	} {
		got := p.mustSend(t, c.request)
		if got.status != c.want {
			t.Errorf("%s: got %v, want %d", name, got, c.want)
			continue
		}
		got.problem(t, name)
		challenge := got.header.Get("WWW-Authenticate")
		if (c.want == http.StatusUnauthorized) != strings.HasPrefix(challenge, "Bearer ") {
			t.Errorf("%s: got the challenge %q with %d", name, challenge, c.want)
		}
	}
}

// forged is the token with another signature.
func forged(token string) string {
	at := strings.LastIndexByte(token, '.')
	return token[:at+1] + strings.Map(func(r rune) rune {
		if r == 'A' {
			return 'B'
		}
		return 'A'
	}, token[at+1:])
}

// problem fails the test unless the body is a problem as the contract describes it.
func (a answer) problem(t *testing.T, name string) {
	t.Helper()
	var body struct {
		Type, Title, Detail string
		Status              int
		Instance            json.RawMessage
		Extensions          struct{ CorrelationID string }
	}
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Errorf("%s: %v in %s", name, err, a.body)
	}
	if kind := a.header.Get("Content-Type"); kind != "application/problem+json" {
		t.Errorf("%s: the content type is %q", name, kind)
	}
	if !strings.HasPrefix(body.Type, "https://") || body.Title != http.StatusText(a.status) || body.Status != a.status ||
		body.Detail == "" || string(body.Instance) != "null" {
		t.Errorf("%s: the body is no problem as the contract has it: %s", name, a.body)
	}
	if id := body.Extensions.CorrelationID; id == "" || id != a.header.Get("X-Correlation-Id") {
		t.Errorf("%s: the correlation id is %q in the body and %q in the header", name, id, a.header.Get("X-Correlation-Id"))
	}
}

// healthy: every process is alive and ready.
func healthy(t *testing.T, p *project) {
	for _, name := range p.s.names() {
		for _, path := range []string{"/healthz", "/readyz"} {
			eventually(t, name+" is well by "+path, func() bool { return p.s.probe(p.s.replica(name), path) == nil })
		}
	}
}

// shared: a game service asks for three players. Each of them reads the result and what she herself brought.
func shared(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	lobby := p.as(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct})
	party := []client.Player{
		{ID: "ada", Attributes: attributes{"role": 1}, Properties: map[string][]byte{"badge": []byte("gold")}},
		{ID: "bob", Attributes: attributes{"role": 2}},
		{ID: "eve"},
	}
	id, err := lobby.CreateTicket(within(t), client.TicketRequest{Player: "host", Attributes: attributes{"skill": 1200},
		Properties: map[string][]byte{"note": []byte("private")}, Players: party})
	if err != nil {
		t.Fatal(err)
	}
	stranger := p.as(t, issuer.Claims{Kind: auth.Player, Subject: "mallory"})
	if _, err := stranger.GetTicket(within(t), id); client.Status(err) != http.StatusNotFound {
		t.Errorf("mallory reads the ticket of others: want 404, got %v", err)
	}
	opponent := p.ticket(t, "zoe", attributes{"skill": 1210})
	for i, member := range party {
		k := &ticket{p: p, id: id, player: member.ID}
		if got, want := k.connection(t), opponent.connection(t); got != want {
			t.Errorf("%s plays at %s, the opponent at %s", member.ID, got, want)
		}
		got, err := k.api(t).GetTicket(within(t), id)
		if err != nil {
			t.Fatal(err)
		}
		want := []client.Player{{ID: "ada"}, {ID: "bob"}, {ID: "eve"}}
		want[i] = member
		if diff := cmp.Diff(want, got.Players); diff != "" || len(got.Attributes)+len(got.Properties) > 0 {
			t.Errorf("%s reads %+v: %s", member.ID, got, diff)
		}
	}
	got, err := lobby.GetTicket(within(t), id)
	if err != nil || !cmp.Equal(party, got.Players) || got.Attributes["skill"] != 1200 {
		t.Errorf("the game service reads %+v, %v", got, err)
	}
	eve := &ticket{p: p, id: id, player: "eve"}
	eve.delete(t)
	(&ticket{p: p, id: id, player: "bob"}).mustNotExist(t)
}

package ticket_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/observe/telemetry/telemetrytest"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/ticket"
)

// as sends a request with a token.
func (r *replicas) as(t *testing.T, c issuer.Claims, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	c.Project = "demo"
	token, err := r.tokens.Mint(c)
	must(t, err)
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	text, err := rest(res)
	must(t, err)
	return res.StatusCode, text
}

func player(name string) issuer.Claims { return issuer.Claims{Kind: auth.Player, Subject: name} }

func lobby(scope string) issuer.Claims {
	return issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: scope}
}

const ofThree = `{"attributes":{"skill":1},"properties":{"secret":"b3duZXI="},"players":[` +
	`{"id":"ada","attributes":{"role":1},"properties":{"badge":"YWRh"}},` +
	`{"id":"bob","attributes":{"role":2}},{"id":"eve"}]}`

func (r *replicas) createFor(t *testing.T, owner, body string) string {
	t.Helper()
	status, text := r.as(t, lobby(auth.ScopeAct), http.MethodPost, r.urls[0], body, auth.OnBehalfOf, owner)
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(text), &made); status != http.StatusCreated || err != nil {
		t.Fatalf("%d %s, %v", status, text, err)
	}
	return made.ID
}

func TestEveryPlayerReadsTheTicketWithoutTheOthersData(t *testing.T) {
	r := start(t)
	const ids = `"players":[{"id":"ada"},{"id":"bob"},{"id":"eve"}]`
	const all = `"attributes":{"skill":1},"properties":{"secret":"b3duZXI="}`
	const none = `"attributes":{},"properties":{}`
	const everything = `"players":[{"id":"ada","attributes":{"role":1},"properties":{"badge":"YWRh"}},` +
		`{"id":"bob","attributes":{"role":2}},{"id":"eve"}]`
	adas := strings.Replace(ids, `"ada"`, `"ada","attributes":{"role":1},"properties":{"badge":"YWRh"}`, 1)
	outside, inside := r.createFor(t, "zoe", ofThree), r.createFor(t, "ada", ofThree)
	for _, c := range []struct {
		reader issuer.Claims
		ticket string
		want   []string
		status int
	}{
		{player("zoe"), outside, []string{all, ids}, 200},
		{player("ada"), outside, []string{none, adas}, 200},
		{player("bob"), outside, []string{none, strings.Replace(ids, `"bob"`, `"bob","attributes":{"role":2}`, 1)}, 200},
		{player("eve"), outside, []string{none, ids}, 200},
		{player("mallory"), outside, nil, 404},
		{player("ad"), outside, nil, 404},
		{lobby(auth.ScopeRead), outside, []string{all, everything}, 200},
		{lobby(auth.ScopeAct), outside, []string{all, everything}, 200},
		{player("ada"), inside, []string{all, adas}, 200},
		{player("zoe"), inside, nil, 404},
	} {
		status, text := r.as(t, c.reader, http.MethodGet, r.urls[1]+"?id="+c.ticket, "")
		if status != c.status {
			t.Errorf("%s: %d %s", c.reader.Subject, status, text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s of %s reads %s, want %s", c.reader.Subject, c.reader.Kind, text, want)
			}
		}
	}
	// The answer that a create waits for is the owner's.
	r.assign(t.Context(), t, inside)
	status, text := r.as(t, player("eve"), http.MethodGet, r.urls[1]+"?id="+inside, "", "Prefer", "wait=20")
	if status != http.StatusOK || !strings.Contains(text, `"connection":"203.0.113.7:7777"`) {
		t.Errorf("eve's result is %d %s", status, text)
	}
}

func TestEveryPlayerMayEndTheTicket(t *testing.T) {
	r := start(t)
	for by, want := range map[string]int{"zoe": 200, "ada": 200, "bob": 200, "mallory": 404} {
		id := r.createFor(t, "zoe", ofThree)
		if status, text := r.as(t, player(by), http.MethodDelete, r.urls[0]+"?id="+id, ""); status != want {
			t.Errorf("%s: %d %s", by, status, text)
		}
		wantAfter := 404
		if want == 404 {
			wantAfter = 200
		}
		if status, text := r.as(t, player("ada"), http.MethodGet, r.urls[0]+"?id="+id, ""); status != wantAfter {
			t.Errorf("after %s: %d %s", by, status, text)
		}
	}
	id := r.createFor(t, "zoe", ofThree)
	if status, text := r.as(t, lobby(auth.ScopeAct), http.MethodDelete, r.urls[0]+"?id="+id, "", auth.OnBehalfOf,
		"eve"); status != 200 {
		t.Errorf("for eve: %d %s", status, text)
	}
}

func TestPlayersAreRefused(t *testing.T) {
	r := start(t)
	for _, c := range []struct {
		from       issuer.Claims
		body, want string
		status     int
	}{
		{player("ada"), `{"players":[{"id":"ada","attributes":{"role":1}}]}`, "", 201},
		{player("ada"), `{"players":null}`, "", 201},
		{player("ada"), `{"players":[{"id":"bob"}]}`, "players.0.id", 403},
		{player("ada"), `{"players":[{"id":"ada"},{"id":"bob"}]}`, "players.1.id", 403},
		{player("ada"), `{"players":[]}`, "players: the list is empty", 400},
		{lobby(auth.ScopeAct), `{"players":[{"id":"bob"},{"id":"eve"}]}`, "", 201},
		{lobby(auth.ScopeRead), `{"players":[{"id":"bob"}]}`, auth.ScopeAct, 403},
		{lobby(auth.ScopeAct), `{"players":[{"id":"bob"},{"id":"bob"}]}`, "players.1.id: the same player", 400},
		{lobby(auth.ScopeAct), `{"players":[{"id":""}]}`, "players.0.id", 400},
		{lobby(auth.ScopeAct), `{"players":[null]}`, "players.0", 400},
		{lobby(auth.ScopeAct), `{"players":["bob"]}`, "players.0: an object", 400},
		{lobby(auth.ScopeAct), `{"players":{"bob":{}}}`, "players: an array", 400},
		{lobby(auth.ScopeAct), `{"players":[{"id":7}]}`, "players.0.id: a string", 400},
		{lobby(auth.ScopeAct), `{"players":[{"id":"bob","name":"Bob"}]}`, "players.0.name: unknown member", 400},
		{lobby(auth.ScopeAct), `{"players":[{"id":"bob","players":[]}]}`, "players.0.players: unknown member", 400},
		{lobby(auth.ScopeAct), `{"players":[{"id":"bob","attributes":{"a":"1"}}]}`, "players.0.attributes.a: a number", 400},
		{lobby(auth.ScopeAct), `{"players":[{"id":"bob","attributes":{"created":1}}]}`, "players.0.attributes.created", 400},
		{lobby(auth.ScopeAct), `{"players":[{"id":"bob","properties":{"a":"YR=="}}]}`, "players.0.properties.a", 400},
		{lobby(auth.ScopeAct), `{"players":[` + strings.Repeat(`{"id":"x"},`, 64) + `{"id":"y"}]}`, "players: 65 of them", 400},
	} {
		headers := []string{}
		if c.from.Kind == auth.Service {
			headers = []string{auth.OnBehalfOf, "ada"}
		}
		status, text := r.as(t, c.from, http.MethodPost, r.urls[0], c.body, headers...)
		if status != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%.80s: %d %s, want %d and %q", c.body, status, text, c.status, c.want)
		}
	}
}

func TestPlayersOfTicketsAreCounted(t *testing.T) {
	meter, measured := telemetrytest.New()
	r := startWith(t, state.Options{}, func(o *ticket.Options) { o.Meter = meter })
	r.createFor(t, "zoe", ofThree)
	for range 2 { // the second is the first one again
		r.as(t, player("ada"), http.MethodPost, r.urls[0], `{}`, "Idempotency-Key", `"k"`)
	}
	if got := measured.Value(t, "matchmaker.tickets.players"); got != 4 {
		t.Errorf("%v players are counted, want 4", got)
	}
}

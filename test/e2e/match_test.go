package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// liveServer: two tickets that match get the same game server. The server runs and knows only them.
func liveServer(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ada := p.ticket(t, "ada", attributes{"skill": 1200})
	far := p.ticket(t, "far", attributes{"skill": 9000})
	bob := p.ticket(t, "bob", attributes{"skill": 1210})
	server := together(t, ada, bob)
	first, second := ada.hello(t, server), bob.hello(t, server)
	if first.Match == "" || first.Match != second.Match {
		t.Errorf("the server tells ada of match %q, bob of match %q: want the same", first.Match, second.Match)
	}
	if second.Players != 2 {
		t.Errorf("the server counts %d players, want 2", second.Players)
	}
	far.mustBeStranger(t, server)
	far.mustWait(t)
}

// outside: tickets that are in no pool wait, while others are matched.
func outside(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 1)
	other := p.ticket(t, "other", attributes{"skill": 1200, "side": 2})
	none := p.ticket(t, "none", attributes{"skill": 1200})
	for range 3 {
		p.match(t, attributes{"skill": 1200, "side": 1})
	}
	other.mustWait(t)
	none.mustWait(t)
}

// override: without hosting the connection is the proposal's. Its properties reach the right tickets.
func override(t *testing.T, p *project) {
	const elsewhere = "203.0.113.7:7777"
	p.upload(t, "actor", p.s.made.actor)
	p.put(t, "casual", rules{function: "actor", settings: map[string]any{"part": "pair", "connection": elsewhere}})
	for number, k := range []*ticket{
		p.ticket(t, "zero", attributes{"number": 0}),
		p.ticket(t, "one", attributes{"number": 1}),
	} {
		got := k.result(t)
		if got.Connection != elsewhere || got.Error != "" {
			t.Errorf("%s: got %+v, want the connection %s", k.player, got, elsewhere)
		}
		if want := `{"players":[0,1]}`; string(got.MatchProperties) != want {
			t.Errorf("%s: got the match properties %s, want %s", k.player, got.MatchProperties, want)
		}
		if want := fmt.Sprintf(`{"you":%d}`, number); string(got.Properties) != want {
			t.Errorf("%s: got the properties %s, want %s", k.player, got.Properties, want)
		}
	}
}

// timeout: a function can give a ticket an error instead of a match, with hosting and without.
func timeout(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.upload(t, "actor", p.s.made.actor)
	p.put(t, "ranked", rules{function: "duel", settings: map[string]any{"timeout": 0.1}, side: 1, hosting: true})
	p.put(t, "casual", rules{function: "actor", settings: map[string]any{"part": "fail", "failure": "NobodyLikesYou"},
		side: 2})
	for want, k := range map[string]*ticket{
		"PoolTimeout":    p.ticket(t, "patient", attributes{"side": 1, "skill": 1}),
		"NobodyLikesYou": p.ticket(t, "disliked", attributes{"side": 2, "number": 1}),
	} {
		if got := k.result(t); got.Error != want || got.Connection != "" {
			t.Errorf("%s: got %+v, want the error %s and no connection", k.player, got, want)
		}
	}
}

// once: each ticket gets into one match, though the function proposes it many times.
func once(t *testing.T, p *project) {
	p.upload(t, "actor", p.s.made.actor)
	p.put(t, "casual", rules{function: "actor", settings: map[string]any{"part": "every"}, hosting: true})
	all := p.crowd(t, 12, nil)
	all.paired(t)
	all.meet(t)
}

// patientGet: a GET with "Prefer: wait" is answered when there is a result, or when its time is over.
func patientGet(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	inTime(t, func() bool {
		ada := p.ticket(t, "ada", attributes{"skill": 1200})
		got := p.mustSend(t, ada.get(t, "wait=1"))
		if got.status != http.StatusOK || got.header.Get("Preference-Applied") != "wait=1" ||
			got.ticket(t).Assignment != nil {
			t.Fatalf("a GET that waited in vain: got %v, want 200 without an assignment", got)
		}
		held, began := ada.holdGet(t)
		connection := p.ticket(t, "bob", attributes{"skill": 1200}).connection(t)
		late := time.Since(began) > timely
		if got = <-held; got.status != http.StatusOK || got.header.Get("Preference-Applied") != "wait=20" {
			t.Fatalf("got %v, want 200 and the preference applied", got)
		}
		a := got.ticket(t).Assignment
		if a == nil && late {
			return false
		}
		if a == nil || a.Connection != connection {
			t.Errorf("the GET was answered with %+v, bob plays at %s", a, connection)
		}
		return true
	})
}

// timely is when a match must be made that a request of 20 seconds waits for.
const timely = 15 * time.Second

// inTime tries twice again when a try was not timely, as on a machine that is slow or stood still.
func inTime(t *testing.T, try func() bool) {
	t.Helper()
	for range 3 {
		if try() {
			return
		}
	}
	t.Fatal("of three tries none was in time")
}

// patientCreate: a POST with "Prefer: wait" is answered 201 with the ticket's address at once, and its body comes with
// the result.
func patientCreate(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ada := &ticket{p: p, player: "ada"}
	_, token, err := p.client(ada.claims())
	if err != nil {
		t.Fatal(err)
	}
	inTime(t, func() bool {
		began := time.Now()
		out, err := p.begin(within(t), request{method: http.MethodPost, path: "v1/tickets", token: token,
			header: map[string]string{"Prefer": "wait=20"}, body: `{"attributes":{"skill":1200}}`})
		if err != nil {
			t.Fatal(err)
		}
		defer out.Body.Close()
		at, err := out.Location()
		if err != nil || out.StatusCode != http.StatusCreated || out.Header.Get("Preference-Applied") != "wait=20" {
			t.Fatalf("got %d %v, %v, want 201, an address and the preference applied", out.StatusCode, out.Header, err)
		}
		ada.id = at.Query().Get("id")
		ada.mustWait(t)
		connection := p.ticket(t, "bob", attributes{"skill": 1200}).connection(t)
		late := time.Since(began) > timely
		body, err := io.ReadAll(out.Body)
		if err != nil {
			t.Fatal(err)
		}
		got := answer{out.StatusCode, out.Header, body}.ticket(t)
		if got.Assignment == nil && late {
			return false
		}
		if got.ID != ada.id || got.Assignment == nil || got.Assignment.Connection != connection {
			t.Errorf("ticket %s: the body is %s, bob plays at %s", ada.id, body, connection)
		}
		return true
	})
}

// get is a GET of the ticket with a preference.
func (k *ticket) get(t *testing.T, prefer string) request {
	t.Helper()
	_, token, err := k.p.client(k.claims())
	if err != nil {
		t.Fatal(err)
	}
	return request{method: http.MethodGet, path: "v1/tickets?id=" + k.id, token: token,
		header: map[string]string{"Prefer": prefer}}
}

// holdGet returns when the service holds a GET of the waiting ticket, and when that began. To prove that, two other
// players are matched meanwhile. The answer comes over the channel.
func (k *ticket) holdGet(t *testing.T) (held <-chan answer, began time.Time) {
	t.Helper()
	k.p.match(t, attributes{"skill": 5000}) // from here on matches are made at once
	get := k.get(t, "wait=20")
	inTime(t, func() bool {
		answered, ctx := make(chan answer, 1), within(t)
		held, began = answered, time.Now()
		go func() {
			got, err := k.p.send(ctx, get)
			if err != nil {
				t.Error(err)
			}
			answered <- got
		}()
		k.p.match(t, attributes{"skill": 5000})
		select {
		case got := <-held:
			if time.Since(began) < 20*time.Second || t.Failed() {
				t.Fatalf("a GET was answered before there was a result: %v", got)
			}
			return false
		default:
			return true
		}
	})
	return held, began
}

// ticket is the ticket in the answer to a GET.
func (a answer) ticket(t *testing.T) *client.Ticket {
	t.Helper()
	k := new(client.Ticket)
	if err := json.Unmarshal(a.body, k); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return k
}

// oneself: tickets of one player, alone and with others, are never in one match, though the function proposes every
// pair that it sees.
func oneself(t *testing.T, p *project) {
	p.upload(t, "actor", p.s.made.actor)
	p.put(t, "casual", rules{function: "actor", settings: map[string]any{"part": "every"}, hosting: true})
	lobby := p.as(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct})
	id, err := lobby.CreateTicket(within(t), client.TicketRequest{Player: "lobby", Attributes: attributes{"number": 2},
		Players: []client.Player{{ID: "carl"}, {ID: "ada"}}})
	if err != nil {
		t.Fatal(err)
	}
	own := []*ticket{p.ticket(t, "ada", attributes{"number": 0}), p.ticket(t, "ada", attributes{"number": 1}),
		{p: p, id: id, player: "ada"}}
	servers := map[string]int{}
	for i, name := range []string{"bob", "eve", "zoe"} {
		servers[p.ticket(t, name, attributes{"number": float64(3 + i)}).connection(t)]++
	}
	for _, k := range own {
		servers[k.connection(t)]++
	}
	for server, n := range servers {
		if n != 2 {
			t.Errorf("%d tickets play at %s, want 2", n, server)
		}
	}
	if len(servers) != 3 {
		t.Errorf("the three tickets of ada play at %v, want three servers", servers)
	}
}

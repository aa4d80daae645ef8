package ticket_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

// endings are the terms of acceptances whose director saw all of them.
var endings = state.AcceptanceTerms{Claim: time.Minute, Watched: time.Hour, Limit: 10}

// offer claims tickets for a match that asks their players.
func (r *replicas) offer(t *testing.T, match string, tickets ...string) {
	t.Helper()
	revision, _, err := r.store.PutConfig(t.Context(), "demo", &pb.Config{Id: "asks", Function: "duel"}, state.AnyRevision)
	must(t, err)
	epoch, err := r.store.AcquireLease(t.Context(), "demo", "director", time.Minute)
	must(t, err)
	claim := &state.Claim{
		Match: &pb.Match{Id: match, Config: "asks", Revision: revision, Acceptance: 60_000, Hosting: &pb.Hosting{Fleet: "f"},
			Place:    state.PlaceHosting,
			Proposal: &pb.Proposal{Teams: []*pb.Team{{Tickets: tickets}}}},
		Tickets: tickets,
	}
	_, err = r.store.Claim(t.Context(), "demo", state.ClaimOptions{Epoch: epoch, Claim: time.Minute},
		[]*state.Claim{claim})
	if must(t, err); claim.Refusal != "" {
		t.Fatalf("the claim was refused: %s", claim.Refusal)
	}
	r.bus.NotifyAssigned(t.Context(), "demo", tickets)
}

// answer answers a match and wants a status.
func (r *replicas) answer(t *testing.T, c issuer.Claims, ticket, body string, want int, headers ...string) string {
	t.Helper()
	status, text := r.as(t, c, http.MethodPost, r.urls[0]+"/acceptance?id="+ticket, body, headers...)
	if status != want {
		t.Errorf("%s answers %s: %d %s, want %d", c.Subject, body, status, text, want)
	}
	return text
}

// read reads a ticket as a player.
func (r *replicas) read(t *testing.T, name, id string, headers ...string) (got response.Ticket) {
	t.Helper()
	status, text := r.as(t, player(name), http.MethodGet, r.urls[1]+"?id="+id, "", headers...)
	if status != http.StatusOK {
		t.Fatalf("%s reads %d %s", name, status, text)
	}
	must(t, json.Unmarshal([]byte(text), &got))
	return got
}

func TestPlayersAnswerTheirMatch(t *testing.T) {
	r := start(t)
	ada := r.create(t)
	party := r.createFor(t, "bob", `{"players":[{"id":"bob"},{"id":"eve"},{"id":"dan"}]}`)
	if got := r.read(t, "ada", ada); got.Acceptance != nil {
		t.Fatalf("a ticket that waits has %+v", got.Acceptance)
	}
	r.offer(t, "m", ada, party)
	got := r.read(t, "eve", party).Acceptance
	if got == nil || got.Match != "m" || got.Players != 4 || got.Accepted != 0 || got.Remaining <= 0 ||
		got.Remaining > 60_000 || fmt.Sprint(got.Unanswered) != "[bob eve dan]" {
		t.Fatalf("eve reads %+v", got)
	}
	r.answer(t, player("eve"), party, `{"match":"m","accept":true}`, http.StatusNoContent)
	r.answer(t, player("eve"), party, `{"match":"m","accept":true,"players":["eve"]}`, http.StatusNoContent)
	r.answer(t, lobby(auth.ScopeAct), party, `{"match":"m","accept":true}`, http.StatusNoContent, auth.OnBehalfOf, "bob")
	if got = r.read(t, "bob", party).Acceptance; got.Accepted != 2 || fmt.Sprint(got.Unanswered) != "[dan]" {
		t.Fatalf("bob reads %+v", got)
	}
	r.answer(t, lobby(auth.ScopeAct), ada, `{"match":"m","accept":true,"players":["ada"]}`, http.StatusNoContent)
	r.answer(t, lobby(auth.ScopeAct), party, `{"match":"m","accept":true}`, http.StatusNoContent) // all of them
	ended, err := r.store.EndAcceptances(t.Context(), "demo", endings)
	if must(t, err); len(ended.Accepted) != 1 {
		t.Errorf("ended: %+v", ended)
	}
}

func TestAnswersAreRefused(t *testing.T) {
	r := start(t)
	ada, bob, waits := r.create(t), r.createFor(t, "bob", "{}"), r.createFor(t, "carol", "{}")
	party := r.createFor(t, "zoe", `{"players":[{"id":"eve"}]}`)
	r.offer(t, "m", ada, bob, party)
	good := `{"match":"m","accept":true}`
	for _, c := range []struct {
		by           issuer.Claims
		ticket, body string
		status       int
		says         string
	}{
		{player("ada"), ada, `{"accept":true}`, 400, "match"},
		{player("ada"), ada, `{"match":"","accept":true}`, 400, "match"},
		{player("ada"), ada, `{"match":"a b","accept":true}`, 400, "match"},
		{player("ada"), ada, `{"match":"` + strings.Repeat("m", 65) + `","accept":true}`, 400, "match"},
		{player("ada"), ada, `{"match":"m"}`, 400, "accept"},
		{player("ada"), ada, `{"match":"m","accept":"yes"}`, 400, "accept"},
		{player("ada"), ada, `{"match":"m","accept":true,"x":1}`, 400, "x"},
		{player("ada"), ada, `{"match":"m","accept":true,"players":[""]}`, 400, "players.0"},
		{player("ada"), ada, `{"match":"m","accept":true,"players":["bob"]}`, 403, "players.0"},
		{player("ada"), "", good, 400, "id"},
		{player("ada"), bob, good, 404, "not found"},
		{player("zoe"), party, good, 404, "not found"}, // she owns it, and is no player
		{player("ada"), "none", good, 404, "not found"},
		{player("carol"), waits, good, 409, "match"},
		{player("ada"), ada, `{"match":"other","accept":true}`, 409, "match"},
		{lobby(auth.ScopeRead), ada, good, 403, "scope"},
		{lobby(auth.ScopeAct), ada, `{"match":"m","accept":true,"players":["ada","bob"]}`, 400, "players.1"},
		{lobby(auth.ScopeAct), ada, `{"match":"m","accept":true,"players":["` + strings.Repeat(`","`, 64) + `"]}`, 400,
			"players"},
	} {
		if text := r.answer(t, c.by, c.ticket, c.body, c.status); !strings.Contains(text, c.says) {
			t.Errorf("%s answers %s: %s, want %q", c.by.Subject, c.body, text, c.says)
		}
	}
	if got := r.read(t, "ada", ada).Acceptance; got == nil || got.Accepted != 0 {
		t.Errorf("after the refusals: %+v", got)
	}
	r.answer(t, player("bob"), bob, `{"match":"m","accept":false}`, 204)
	r.answer(t, player("bob"), bob, `{"match":"m","accept":false}`, 204)
	r.answer(t, player("ada"), ada, good, 409)
}

// A held GET returns when a match asks its player, and is held again once the player answered.
func TestHeldGetReturnsForAnAcceptance(t *testing.T) {
	r := start(t)
	ada, bob := r.create(t), r.createFor(t, "bob", "{}")
	got := make(chan response.Ticket, 1)
	go func() { got <- r.read(t, "ada", ada, "Prefer", "wait=30") }()
	r.offer(t, "m", ada, bob)
	if one := <-got; one.Acceptance == nil || one.Acceptance.Match != "m" {
		t.Fatalf("the GET is answered with %+v", one)
	}
	r.answer(t, player("ada"), ada, `{"match":"m","accept":true}`, http.StatusNoContent)
	go func() { got <- r.read(t, "ada", ada, "Prefer", "wait=30") }()
	go func() { // the lobby is asked as long as one of the players is, and bob is in another ticket
		_, text := r.as(t, lobby(auth.ScopeRead), http.MethodGet, r.urls[0]+"?id="+bob, "", "Prefer", "wait=30")
		var one response.Ticket
		_ = json.Unmarshal([]byte(text), &one)
		got <- one
	}()
	if one := <-got; one.ID != bob || one.Acceptance == nil {
		t.Fatalf("answered first: %+v", one)
	}
	r.answer(t, player("bob"), bob, `{"match":"m","accept":true}`, http.StatusNoContent)
	ended, err := r.store.EndAcceptances(t.Context(), "demo", endings)
	if must(t, err); len(ended.Accepted) != 1 {
		t.Fatalf("ended: %+v", ended)
	}
	_, err = r.store.EndMatches(t.Context(), "demo", []state.Ending{{Match: ended.Accepted[0], Tickets: []string{ada, bob},
		Results: []*pb.Assignment{{Connection: "203.0.113.7:7777"}}, Outcome: state.Outcome{Readable: time.Hour}}})
	must(t, err)
	r.bus.NotifyAssigned(t.Context(), "demo", []string{ada, bob})
	if one := <-got; one.ID != ada || one.Assignment == nil {
		t.Fatalf("the GET of who answered is answered with %+v", one)
	}
}

// Streams tell that a match asks, how many accepted, and why a ticket ended.
func TestStreamTellsOfAnAcceptance(t *testing.T) {
	r := start(t)
	embeddedtest.Prepare(t, r.bus)
	ada, bob := r.create(t), r.createFor(t, "bob", "{}")
	f := r.open(t, 0, ada)
	f.expect("waiting", ada)
	r.offer(t, "m", ada, bob)
	first := f.expect("acceptance", `"match":"m"`)
	if !strings.Contains(first.data, `"players":2,"accepted":0,"unanswered":["ada"]`) {
		t.Errorf("got %s", first.data)
	}
	r.answer(t, player("bob"), bob, `{"match":"m","accept":true}`, http.StatusNoContent)
	r.happens(t, &pb.Event{Kind: pb.Event_KIND_ACCEPTED, Match: "m", Tickets: []string{bob}})
	second := f.expect("acceptance", `"accepted":1,"unanswered":["ada"]`)
	again := r.open(t, 1, ada, "Last-Event-ID", second.id) // what the client knows is not told again
	r.answer(t, player("ada"), ada, `{"match":"m","accept":false}`, http.StatusNoContent)
	ended, err := r.store.EndAcceptances(t.Context(), "demo", endings)
	if must(t, err); len(ended.Ended()) != 1 {
		t.Fatalf("ended: %+v", ended)
	}
	r.happens(t, &pb.Event{Kind: pb.Event_KIND_EXPIRED, Reason: "declined", Match: "m", Tickets: []string{ada}})
	for _, one := range []*followed{f, again} {
		one.expect("ended", `"reason":"declined"`)
		one.ends()
	}
}

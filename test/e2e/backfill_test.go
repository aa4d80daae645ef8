package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// backfill: a game server creates, changes and deletes its backfill ticket. The record version counts the changes.
func backfill(t *testing.T, p *project) {
	server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
	id, err := server.CreateBackfill(within(t), client.BackfillRequest{
		Connection: "203.0.113.7:7777", Attributes: attributes{"seats": 3},
		Properties: map[string][]byte{"map": []byte("harbour")},
	})
	if err != nil {
		t.Fatal(err)
	}
	first, err := server.ApproveBackfill(within(t), id)
	if err != nil {
		t.Fatal(err)
	}
	if first.ID != id || first.Connection != "203.0.113.7:7777" || first.Attributes["seats"] != 3 ||
		string(first.Properties["map"]) != "harbour" {
		t.Errorf("got %+v, want what was created", first)
	}
	changed := *first
	changed.Attributes = attributes{"seats": 2}
	if err := server.UpdateBackfill(within(t), changed); err != nil {
		t.Fatal(err)
	}
	second, err := server.ApproveBackfill(within(t), id)
	if err != nil {
		t.Fatal(err)
	}
	if second.RecordVersion <= first.RecordVersion || second.Attributes["seats"] != 2 || second.Created != first.Created {
		t.Errorf("got %+v after %+v, want a later version with two seats", second, first)
	}
	if err := server.DeleteBackfill(within(t), id); err != nil {
		t.Fatal(err)
	}
	if _, err := server.ApproveBackfill(within(t), id); client.Status(err) != http.StatusNotFound {
		t.Errorf("a deleted backfill ticket is approved: want 404, got %v", err)
	}
}

// fillGame: players join a running game when its server approves, and not before. They get the connection of the
// server. When a player has left, the next one joins.
func fillGame(t *testing.T, p *project) {
	p.upload(t, "arena", p.s.made.arena)
	p.put(t, "arena", rules{function: "arena", settings: map[string]any{"players": 4, "widen": 0}, hosting: true})
	server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
	id, err := server.CreateBackfill(within(t), client.BackfillRequest{Connection: "203.0.113.7:7777",
		Attributes: attributes{"open": 1, "skill": 1200}})
	if err != nil {
		t.Fatal(err)
	}
	ada, bob := p.ticket(t, "ada", attributes{"skill": 1210}), p.ticket(t, "bob", attributes{"skill": 1290})
	joins := func(k *ticket) {
		t.Helper()
		eventually(t, k.player+" joins", func() bool {
			b, err := server.ApproveBackfill(within(t), id)
			if err != nil {
				t.Fatal(err)
			}
			return slices.ContainsFunc(b.AssignedTickets, func(one client.Ticket) bool {
				return one.ID == k.id && one.Attributes["skill"] > 1200 && one.Assignment.Connection == "203.0.113.7:7777"
			})
		})
		if got := k.connection(t); got != "203.0.113.7:7777" {
			t.Errorf("%s is sent to %s", k.player, got)
		}
	}
	joins(ada)
	b, err := server.ApproveBackfill(within(t), id)
	if err != nil || b.Attributes["open"] != 0 || b.RecordVersion != 1 {
		t.Errorf("after one has joined: %+v, %v", b, err)
	}
	bob.mustWait(t)
	b.Attributes["open"] = 1 // a player has left
	if err := server.UpdateBackfill(within(t), *b); err != nil {
		t.Fatal(err)
	}
	joins(bob)
}

// refillGame: a game server that was started for a match keeps its game filled, with the token and the backfill ticket
// that it got. It replaces a player that leaves. When all have left it asks for no more players.
func refillGame(t *testing.T, p *project) {
	p.upload(t, "arena", p.s.made.arena)
	p.put(t, "arena", rules{function: "arena", settings: map[string]any{"players": 3, "widen": 0}, hosting: true})
	var players []*ticket
	for i := range 3 {
		players = append(players, p.ticket(t, fmt.Sprint("first-", i), attributes{"skill": 1200}))
	}
	server := together(t, players[0], players[1])
	together(t, players[1], players[2])
	for _, k := range players {
		k.hello(t, server)
	}
	late := p.ticket(t, "late", attributes{"skill": 1210})
	late.mustWait(t)
	if err := gameservertest.Bye(within(t), server, players[0].id); err != nil {
		t.Fatal(err)
	}
	if got := late.connection(t); got != server {
		t.Fatalf("late is sent to %s, and should be in the game at %s", got, server)
	}
	w, err := gameservertest.Meet(within(t), server, late.id)
	if err != nil || w.Players != 3 {
		t.Errorf("the server welcomes late with %+v, %v", w, err)
	}
	// The function says nothing of the game to players that join. They are told what it was started with.
	if got, want := late.result(t).MatchProperties, players[0].result(t).MatchProperties; string(got) != string(want) ||
		len(want) == 0 {
		t.Errorf("late is told %s, and the first were told %s", got, want)
	}
	last := p.ticket(t, "last", attributes{"skill": 1200})
	for _, k := range []*ticket{players[1], players[2]} {
		if err := gameservertest.Bye(within(t), server, k.id); err != nil {
			t.Fatal(err)
		}
	}
	if got := last.connection(t); got != server {
		t.Errorf("last is sent to %s, and should be in the game at %s", got, server)
	}
}

// calling does something while a server calls, which is not taken for silent meanwhile.
func calling(t *testing.T, server *client.Client, game string, do func()) {
	t.Helper()
	ctx, stop := context.WithCancel(within(t))
	var calls sync.WaitGroup
	calls.Go(func() {
		again := time.NewTicker(500 * time.Millisecond)
		defer again.Stop()
		for {
			_, _ = server.ApproveBackfill(ctx, game)
			select {
			case <-again.C:
			case <-ctx.Done():
				return
			}
		}
	})
	defer calls.Wait()
	defer stop()
	do()
}

// silentGame: a server that stops to approve is offered no player, long before proposals lapse. It gets players again
// when it calls.
func silentGame(t *testing.T, p *project) {
	p.upload(t, "arena", p.s.made.arena)
	p.put(t, "arena", rules{function: "arena", settings: map[string]any{"players": 4, "widen": 0}, hosting: true})
	server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
	id, err := server.CreateBackfill(within(t), client.BackfillRequest{Connection: "203.0.113.7:7777",
		Attributes: attributes{"open": 1, "skill": 1200}})
	if err != nil {
		t.Fatal(err)
	}
	usual, last := time.Second, time.Now()
	for range 3 {
		if _, err := server.ApproveBackfill(within(t), id); err != nil {
			t.Fatal(err)
		}
		usual, last = max(usual, time.Since(last)), time.Now()
	}
	eventually(t, "the server is silent", func() bool { return time.Since(last) > 3*usual+time.Second })
	ada := p.ticket(t, "ada", attributes{"skill": 1210})
	came := time.Now()
	eventually(t, "many cycles have gone by", func() bool { return time.Since(came) > 2*time.Second })
	told := events(t, p.developer(t), client.EventQuery{Ticket: ada.id})
	for _, e := range told {
		if e.Kind != "created" {
			t.Errorf("ada is %s to a server that is silent", e.Kind)
		}
	}
	if len(told) == 0 {
		t.Error("there are no events of ada")
	}
	eventually(t, "ada joins", func() bool {
		b, err := server.ApproveBackfill(within(t), id)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(b.AssignedTickets, func(one client.Ticket) bool { return one.ID == ada.id })
	})
	if got := ada.connection(t); got != "203.0.113.7:7777" {
		t.Errorf("ada is sent to %s", got)
	}
}

// fillAsked: players of a config that asks are asked before a running game learns of them. It gets them when all have
// accepted. The ticket of a player that declines or is silent ends, the others wait, and the game knows nothing of it.
// When the game ends meanwhile, all wait again.
func fillAsked(t *testing.T, p *project) {
	p.upload(t, "arena", p.s.made.arena)
	c := client.Config{
		Matchmaking: client.Matchmaking{TargetFunction: client.FunctionTarget{Name: "arena", Version: "1"},
			Config: []byte(`{"players":4,"widen":0}`)},
		Acceptance: &client.AcceptanceRule{Seconds: 60},
		Hosting:    &client.Hosting{Profile: "profile", FleetID: "fleet"},
	}
	put := func(seconds int) {
		t.Helper()
		c.Acceptance.Seconds = seconds
		if _, err := p.developer(t).PutConfig(within(t), "arena", c, ""); err != nil {
			t.Fatal(err)
		}
	}
	put(60)
	server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
	open := func() string {
		t.Helper()
		id, err := server.CreateBackfill(within(t), client.BackfillRequest{Connection: "203.0.113.7:7777",
			Attributes: attributes{"open": 2, "skill": 1200}})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	approve := func(id string) *client.BackfillTicket {
		t.Helper()
		b, err := server.ApproveBackfill(within(t), id)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// knowsNothing: the game is as it was.
	knowsNothing := func(id string) {
		t.Helper()
		if b := approve(id); len(b.AssignedTickets) > 0 || b.RecordVersion != 1 || b.Attributes["open"] != 2 {
			t.Errorf("the game learns of %+v", b)
		}
	}
	// Ada declines.
	game := open()
	ada := p.ticket(t, "ada", attributes{"skill": 1200})
	match := ada.asked(t).Match
	knowsNothing(game)
	ada.answer(t, match, false)
	if _, err := ada.api(t).Wait(within(t), ada.id); client.Status(err) != http.StatusNotFound {
		t.Errorf("ada declined: %v, want 404", err)
	}
	p.expectEvents(t, ada, "created", "claimed", "declined", "expired declined")
	knowsNothing(game)

	// Bob is asked, and the game ends before he answers. He waits, and goes to the next.
	bob := p.ticket(t, "bob", attributes{"skill": 1200})
	calling(t, server, game, func() { bob.asked(t) })
	if err := server.DeleteBackfill(within(t), game); err != nil {
		t.Fatal(err)
	}
	p.expectEvents(t, bob, "created", "claimed", "released game")
	game = open()
	calling(t, server, game, func() { match = bob.asked(t).Match })
	knowsNothing(game)
	bob.answer(t, match, true)
	eventually(t, "bob joins", func() bool {
		return slices.ContainsFunc(approve(game).AssignedTickets, func(one client.Ticket) bool { return one.ID == bob.id })
	})
	if got := bob.connection(t); got != "203.0.113.7:7777" {
		t.Errorf("bob is sent to %s", got)
	}
	p.expectEvents(t, bob, "created", "claimed", "released game", "claimed", "accepted", "assigned")

	// Carol is silent.
	put(1)
	carol := p.ticket(t, "carol", attributes{"skill": 1200})
	calling(t, server, game, func() {
		if _, err := carol.api(t).Wait(within(t), carol.id); client.Status(err) != http.StatusNotFound {
			t.Errorf("carol is silent: %v, want 404", err)
		}
	})
	p.expectEvents(t, carol, "created", "claimed", "expired silent")
	if b := approve(game); b.RecordVersion != 1 || b.Attributes["open"] != 1 {
		t.Errorf("the game learns of %+v", b)
	}
}

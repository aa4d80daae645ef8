package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/allocator/gameserver/gameservertest"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// refillByRules: a game of two teams, which a healer has left, gets the healer that waits, and not the tank who has
// waited for longer. Its server is told for which team and role.
func refillByRules(t *testing.T, p *project) {
	p.upload(t, "rules", p.s.made.rules)
	roles := map[string]any{"tank": 1, "healer": 1, "damage": 1}
	p.put(t, "rules", rules{function: "rules", settings: map[string]any{
		"values": map[string]any{"skill": "number", "mode": "string", "id": "string"},
		"teams": []any{
			map[string]any{"name": "red", "size": 3, "roles": roles}, map[string]any{"name": "blue", "size": 3, "roles": roles},
		},
		"rules":    []any{map[string]any{"spread": "skill", "max": 200}, map[string]any{"same": "mode"}},
		"backfill": map[string]any{"open": 0},
	}, hosting: true})
	enter := func(player string, skill float64, role string) *ticket {
		k := &ticket{p: p, player: player}
		properties, err := client.Values{"roles": []string{role}, "mode": "ranked"}.Properties()
		if err != nil {
			t.Fatal(err)
		}
		k.id, err = k.api(t).CreateTicket(within(t), client.TicketRequest{Players: []client.Player{{
			ID: player, Attributes: attributes{"skill": skill}, Properties: properties,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	tank, far, healer := enter("tank", 1200, "tank"), enter("far", 1900, "healer"), enter("healer", 1350, "healer")
	in := func(id, team, role string) client.GamePlayer {
		return client.GamePlayer{ID: id, Team: team, Role: role, Attributes: attributes{"skill": 1200}}
	}
	server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
	mode, err := client.Values{"mode": "ranked"}.Properties()
	if err != nil {
		t.Fatal(err)
	}
	id, err := server.CreateBackfill(within(t), client.BackfillRequest{
		Connection: "203.0.113.7:7777", Properties: mode, Players: []client.GamePlayer{
			in("a", "red", "tank"), in("b", "red", "healer"), in("c", "red", "damage"),
			in("d", "blue", "tank"), in("e", "blue", "damage"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var told client.Object
	var there []client.GamePlayer
	eventually(t, "the healer joins", func() bool {
		b, err := server.ApproveBackfill(within(t), id)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(b.AssignedTickets, func(one client.Ticket) bool { return one.ID == healer.id })
		if at >= 0 {
			told, there = b.AssignedTickets[at].Assignment.MatchProperties, b.Players
		}
		return at >= 0
	})
	if got := healer.connection(t); got != "203.0.113.7:7777" {
		t.Errorf("the healer is sent to %s", got)
	}
	var joins struct {
		Joining []struct{ ID, Team, Role string }
	}
	if err := json.Unmarshal(told, &joins); err != nil || len(joins.Joining) != 1 ||
		joins.Joining[0] != (struct{ ID, Team, Role string }{"healer", "blue", "healer"}) {
		t.Errorf("the server is told %s, %v", told, err)
	}
	if !slices.ContainsFunc(there, func(p client.GamePlayer) bool {
		return p.ID == "healer" && p.Team == "blue" && p.Role == "healer"
	}) {
		t.Errorf("the game has %+v", there)
	}
	tank.mustWait(t)
	far.mustWait(t)
}

// shortGame: two players start a game after a second, as the rules say. A later healer joins it: his place is open. For
// a second tank there is none, and a player that comes when the game is full plays with it in another.
func shortGame(t *testing.T, p *project) {
	p.upload(t, "rules", p.s.made.rules)
	p.put(t, "short", rules{function: "rules", settings: map[string]any{
		"values": map[string]any{"skill": "number", "mode": "string"},
		"teams": []any{map[string]any{
			"name": "squad", "size": map[string]any{"min": map[string]any{"start": 3, "steps": []any{[]any{1, 2}}}, "max": 3},
			"roles": map[string]any{
				"tank": map[string]any{"max": 1}, "healer": map[string]any{"max": 1}, "damage": map[string]any{"max": 1},
			},
		}},
		"rules":    []any{map[string]any{"spread": "skill", "max": 200}, map[string]any{"same": "mode"}},
		"backfill": map[string]any{"create": "short"},
	}, hosting: true})
	enter := func(player, role, mode string, skill float64) *ticket {
		k := &ticket{p: p, player: player}
		properties, err := client.Values{"roles": []string{role}, "mode": mode}.Properties()
		if err != nil {
			t.Fatal(err)
		}
		k.id, err = k.api(t).CreateTicket(within(t), client.TicketRequest{Players: []client.Player{{
			ID: player, Attributes: attributes{"skill": skill}, Properties: properties,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	ada, bob := enter("ada", "tank", "ranked", 1200), enter("bob", "damage", "ranked", 1200)
	at := together(t, ada, bob)
	var says struct {
		Places int
		Open   []struct {
			Team, Role string
			Places     int
		}
	}
	if err := json.Unmarshal(ada.result(t).MatchProperties, &says); err != nil || says.Places != 3 ||
		len(says.Open) != 1 || says.Open[0].Team != "squad" || says.Open[0].Role != "healer" || says.Open[0].Places != 1 {
		t.Errorf("the match says %s, %v", ada.result(t).MatchProperties, err)
	}
	for _, k := range []*ticket{ada, bob} {
		k.hello(t, at)
	}
	// Both fit into the game by skill, but not with each other.
	tank, fun := enter("tank", "tank", "ranked", 1390), enter("fun", "healer", "fun", 1200)
	eventually(t, "the tank is told that there is no place for his role", func() bool {
		why, err := p.developer(t).ExplainTicket(within(t), tank.id)
		switch {
		case client.Status(err) == http.StatusTooManyRequests:
			return false // it may ask once a second
		case err != nil:
			t.Fatal(err)
		}
		run := why.Configs[0].Run
		return run != nil && slices.ContainsFunc(run.Reasons, func(r client.Reason) bool {
			return r.Reason == "roles: without it the ticket joins a running game"
		})
	})
	healer := enter("healer", "healer", "ranked", 1010)
	if got := healer.connection(t); got != at {
		t.Errorf("the healer is sent to %s, and the game is at %s", got, at)
	}
	if w, err := gameservertest.Meet(within(t), at, healer.id); err != nil || w.Players != 3 {
		t.Errorf("the healer is welcomed with %+v, %v", w, err)
	}
	if other := together(t, tank, enter("last", "healer", "ranked", 1300)); other == at {
		t.Error("a full game gets more players")
	}
	fun.mustWait(t)
}

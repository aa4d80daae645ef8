package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// fiveAgainstFive: friends and seven others make two teams with roles, and the server of the game admits the ten. One
// of the healers leaves. Her place goes to a healer, though a tank has waited for longer, and the server admits him.
func fiveAgainstFive(t *testing.T, p *project) {
	p.upload(t, "rules", p.s.made.rules)
	p.put(t, "five", rules{function: "rules", settings: map[string]any{
		"values": map[string]any{"id": "string"},
		"teams": []any{map[string]any{"name": "team", "copies": 2, "size": 5,
			"roles": map[string]any{"tank": 1, "healer": 1, "damage": 3}}},
		"backfill": map[string]any{"open": 0},
	}, hosting: true, seats: true})
	role := func(name, role string) client.Player {
		properties, err := client.Values{"roles": []string{role}}.Properties()
		if err != nil {
			t.Fatal(err)
		}
		return client.Player{ID: name, Properties: properties}
	}
	var all []*ticket // one for each player
	enter := func(players ...client.Player) {
		lobby := p.as(t, issuer.Claims{Kind: auth.Service, Subject: "lobby", Scope: auth.ScopeAct})
		id, err := lobby.CreateTicket(within(t), client.TicketRequest{Player: players[0].ID, Players: players})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range players {
			all = append(all, &ticket{p: p, id: id, player: one.ID})
		}
	}
	enter(role("tank1", "tank"), role("healer1", "healer"), role("damage1", "damage"))
	enter(role("tank2", "tank"))
	enter(role("healer2", "healer"))
	for n := 2; n <= 6; n++ {
		enter(role(fmt.Sprint("damage", n), "damage"))
	}

	door := p.doors(t)
	at := all[0].connection(t)
	game := door(client.SeatServer{Match: matchOf(t, all[0].result(t).Seats["tank1"]), Connection: at})
	for _, k := range all {
		pass := k.result(t).Seats[k.player]
		if got, err := game.CheckPlayer(within(t), pass, k.player); k.connection(t) != at || got != k.id || err != nil {
			t.Errorf("%s plays at %s and is admitted: %q, %v", k.player, k.connection(t), got, err)
		}
	}

	// Healer2 has left.
	enter(role("late-tank", "tank"))
	enter(role("late-healer", "healer"))
	tank, healer := all[10], all[11]
	server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
	in := func(team, role string, names ...string) (players []client.GamePlayer) {
		for _, name := range names {
			players = append(players, client.GamePlayer{ID: name, Team: team, Role: role})
		}
		return players
	}
	id, err := server.CreateBackfill(within(t), client.BackfillRequest{Connection: at, Players: slices.Concat(
		in("team_1", "tank", "tank1"), in("team_1", "healer", "healer1"),
		in("team_1", "damage", "damage1", "damage2", "damage3"),
		in("team_2", "tank", "tank2"), in("team_2", "damage", "damage4", "damage5", "damage6"),
	)})
	if err != nil {
		t.Fatal(err)
	}
	var told client.Object
	eventually(t, "the healer joins", func() bool {
		b, err := server.ApproveBackfill(within(t), id)
		if err != nil {
			t.Fatal(err)
		}
		n := slices.IndexFunc(b.AssignedTickets, func(one client.Ticket) bool { return one.ID == healer.id })
		if n >= 0 {
			told = b.AssignedTickets[n].Assignment.MatchProperties
		}
		return n >= 0
	})
	var joins struct {
		Joining []struct{ ID, Team, Role string }
	}
	if err := json.Unmarshal(told, &joins); err != nil || len(joins.Joining) != 1 ||
		joins.Joining[0] != (struct{ ID, Team, Role string }{"late-healer", "team_2", "healer"}) {
		t.Errorf("the server is told %s, %v", told, err)
	}
	running := door(client.SeatServer{Backfill: id, Connection: at})
	pass := healer.result(t).Seats[healer.player]
	if got, err := running.CheckPlayer(within(t), pass, healer.player); got != healer.id || err != nil {
		t.Errorf("the healer is not admitted: %q, %v", got, err)
	}
	if _, _, err := game.Check(within(t), pass); !errors.Is(err, client.ErrSeat) {
		t.Errorf("the healer has a seat in the match of others: %v", err)
	}
	tank.mustWait(t)
}

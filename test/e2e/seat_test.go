package e2e

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// seats: the place of a healer is filled with a healer, and game servers admit the players that were matched for them,
// and no others.
func seats(t *testing.T, p *project) {
	p.upload(t, "arena", p.s.made.arena)
	roles := map[string]any{"tank": map[string]any{"value": 1}, "healer": map[string]any{"value": 2}}
	p.put(t, "arena", rules{function: "arena", hosting: true, seats: true,
		settings: map[string]any{"players": 2, "widen": 0, "roles": roles}})
	door := p.doors(t)
	const at = "203.0.113.7:7777"
	server := p.as(t, issuer.Claims{Kind: auth.Server, Subject: "server"})
	id, err := server.CreateBackfill(within(t), client.BackfillRequest{
		Connection: at, Attributes: attributes{"open": 1, "skill": 1200},
		Players: []client.GamePlayer{{ID: "there", Role: "tank"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	running := door(client.SeatServer{Backfill: id, Connection: at})
	waits := func(player string, role float64) *ticket {
		t.Helper()
		k := &ticket{p: p, player: player}
		if k.id, err = k.api(t).CreateTicket(within(t), client.TicketRequest{Attributes: attributes{"skill": 1200},
			Players: []client.Player{{ID: player, Attributes: attributes{"role": role}}}}); err != nil {
			t.Fatal(err)
		}
		return k
	}
	tank, healer := waits("tank", 1), waits("healer", 2)
	eventually(t, "the healer joins", func() bool {
		b, err := server.ApproveBackfill(within(t), id)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(b.Players, func(one client.GamePlayer) bool { return one.ID == "healer" })
	})
	admits := func(at *client.Seats, k *ticket) {
		t.Helper()
		if got, err := at.CheckPlayer(within(t), k.result(t).Seats[k.player], k.player); err != nil || got != k.id {
			t.Errorf("%s is not admitted: %q, %v", k.player, got, err)
		}
	}
	refuses := func(at *client.Seats, k *ticket) {
		t.Helper()
		if _, _, err := at.Check(within(t), k.result(t).Seats[k.player]); !errors.Is(err, client.ErrSeat) {
			t.Errorf("%s is admitted: %v", k.player, err)
		}
	}
	admits(running, healer)
	second := waits("second", 1)
	server2 := together(t, tank, second)
	match := matchOf(t, tank.result(t).Seats["tank"])
	opened := door(client.SeatServer{Match: match, Connection: server2})
	for _, k := range []*ticket{tank, second} {
		admits(opened, k)
		refuses(running, k)
	}
	refuses(opened, healer)
	if got := tank.result(t).Seats; len(got) != 1 {
		t.Errorf("the tank has the passes %v", got)
	}
}

// doors makes the checks of passes of game servers.
func (p *project) doors(t *testing.T) func(client.SeatServer) *client.Seats {
	t.Helper()
	keys, err := client.SeatKeysAt(p.s.front()+client.SeatKeysPath, p.s.http)
	if err != nil {
		t.Fatal(err)
	}
	return func(server client.SeatServer) *client.Seats {
		t.Helper()
		server.Project = p.name
		all, err := client.NewSeats(client.SeatsOptions{SeatServer: server, Keys: keys})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
}

// matchOf is the match of a pass, as it says.
func matchOf(t *testing.T, pass string) string {
	t.Helper()
	parts := strings.Split(pass, ".")
	text, err := base64.RawURLEncoding.DecodeString(parts[min(1, len(parts)-1)])
	var c struct{ Match string }
	if err = errors.Join(err, json.Unmarshal(text, &c)); err != nil || c.Match == "" {
		t.Fatalf("the pass is for the match %q, %v", c.Match, err)
	}
	return c.Match
}

package e2e

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

// parties: three players make a party by its code, their leader searches for all, and each reads the match.
func parties(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	as := func(player string) *client.Client {
		return p.as(t, issuer.Claims{Kind: auth.Player, Subject: player})
	}
	party, err := as("ada").CreateParty(within(t), 3, client.PartyMembership{Attributes: attributes{"role": 1}})
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan *client.Party, 1)
	go func() {
		now, err := as("ada").NextParty(t.Context(), party, "")
		if err != nil && t.Context().Err() == nil {
			t.Errorf("ada does not hear who joined: %v", err)
		}
		heard <- now
	}()
	for _, player := range []string{"bob", "eve"} {
		if _, err := as(player).JoinParty(within(t), party.Code, client.PartyMembership{}); err != nil {
			t.Fatal(err)
		}
		if player == "bob" {
			if now := <-heard; now == nil || len(now.Members) < 2 {
				t.Fatalf("ada hears of %+v", now)
			}
		}
	}
	party = start(within(t), t, as("ada"), party.ID)
	first := party.Search.Ticket
	// eve leaves: the search is over, and no player is matched with a party of two that was three.
	if err := as("eve").LeaveParty(within(t), party.ID, "eve"); err != nil {
		t.Fatal(err)
	}
	if _, err := as("bob").GetTicket(within(t), first); client.Status(err) != http.StatusNotFound {
		t.Errorf("the ticket of three waits on: %v", err)
	}
	party = start(within(t), t, as("ada"), party.ID)
	opponent := p.ticket(t, "zoe", attributes{"skill": 1210})
	for _, player := range []string{"ada", "bob"} {
		k := &ticket{p: p, id: party.Search.Ticket, player: player}
		if got, want := k.connection(t), opponent.connection(t); got != want {
			t.Errorf("%s plays at %s, the opponent at %s", player, got, want)
		}
	}
	// A member that leaves after the match takes the result from no other.
	if err := as("ada").LeaveParty(within(t), party.ID, "ada"); err != nil {
		t.Fatal(err)
	}
	(&ticket{p: p, id: party.Search.Ticket, player: "bob"}).connection(t)
	if now, err := as("bob").MyParty(within(t), ""); err != nil || now.Leader != "bob" || now.Search != nil {
		t.Errorf("bob's party is %+v, %v", now, err)
	}
	// bob is erased. The players of his match keep the result.
	erased, err := p.developer(t).ErasePlayer(within(t), "bob")
	if err != nil || !erased.Party || erased.Tickets < 1 {
		t.Fatalf("erased: %+v, %v", erased, err)
	}
	(&ticket{p: p, id: party.Search.Ticket, player: "ada"}).connection(t)
	if _, err := as("bob").GetTicket(within(t), party.Search.Ticket); client.Status(err) != http.StatusNotFound {
		t.Errorf("bob reads the ticket: %v", err)
	}
}

// followParty: members are told of each change of their party as it comes, and why it is gone for them.
func followParty(t *testing.T, p *project) {
	as := func(player string) *client.Client {
		return p.as(t, issuer.Claims{Kind: auth.Player, Subject: player})
	}
	party, err := as("ada").CreateParty(within(t), 3, client.PartyMembership{})
	if err != nil {
		t.Fatal(err)
	}
	join := func(player string) {
		t.Helper()
		if _, err := as(player).JoinParty(within(t), party.Code, client.PartyMembership{}); err != nil {
			t.Fatal(err)
		}
	}
	join("bob")
	path := "v1/parties/" + party.ID + "/events"
	toAda, toBob := p.openStream(t, "ada", path), p.openStream(t, "bob", path)
	for _, lines := range []*bufio.Scanner{toAda, toBob} {
		awaitLine(t, lines, "event: party")
		awaitLine(t, lines, ":") // nothing has happened since
	}
	join("eve")
	for _, lines := range []*bufio.Scanner{toAda, toBob} {
		if data := awaitLine(t, lines, "data: "); !strings.Contains(data, `"eve"`) {
			t.Errorf("eve has joined, and a stream says %s", data)
		}
	}
	if _, err := as("ada").KickPartyMember(within(t), party.ID, "bob", "ada"); err != nil {
		t.Fatal(err)
	}
	awaitLine(t, toBob, "event: ended")
	if data := awaitLine(t, toBob, "data: "); !strings.Contains(data, `"kicked"`) {
		t.Errorf("bob was kicked, and his stream says %s", data)
	}
	if data := awaitLine(t, toAda, "data: "); strings.Contains(data, `"bob"`) {
		t.Errorf("bob was kicked, and ada's stream says %s", data)
	}
	if err := as("ada").DisbandParty(within(t), party.ID, "ada"); err != nil {
		t.Fatal(err)
	}
	awaitLine(t, toAda, "event: ended")
	if data := awaitLine(t, toAda, "data: "); !strings.Contains(data, `"disbanded"`) {
		t.Errorf("the party is disbanded, and ada's stream says %s", data)
	}
	awaitEnd(t, toAda, toBob)
}

func start(ctx context.Context, t *testing.T, leader *client.Client, party string) *client.Party {
	t.Helper()
	p, err := leader.StartPartySearch(ctx, party, client.TicketRequest{Attributes: attributes{"skill": 1200}})
	if err != nil || p.Search == nil {
		t.Fatalf("the search does not begin: %+v, %v", p, err)
	}
	return p
}

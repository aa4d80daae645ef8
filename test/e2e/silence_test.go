package e2e

import (
	"context"
	"sync"
	"testing"

	"matchmaker.dev/pkg/client"
)

// unheard: a ticket that no request asks for ends. Others that wait as long do not: of a player that holds a GET, of
// one who follows a stream, and of a party whose members look at the party alone.
func unheard(t *testing.T, p *project) {
	rules := client.ProjectSettings{Tickets: &client.TicketRules{EndsTold: true, Silence: &client.Silence{Seconds: 20}}}
	if _, err := p.developer(t).PutSettings(within(t), rules, ""); err != nil {
		t.Fatal(err)
	}
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	ghost := p.ticket(t, "ghost", attributes{"skill": 8000})
	ada, eve := p.ticket(t, "ada", attributes{"skill": 3000}), p.ticket(t, "eve", attributes{"skill": 5000})
	leader := p.player(t, "leader")
	party, err := leader.CreateParty(within(t), 2, client.PartyMembership{})
	if err != nil {
		t.Fatal(err)
	}
	party = start(within(t), t, leader, party.ID) // its skill is 1200
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(within(t))
	all.Go(func() { _, _ = ada.await(ctx) })
	all.Go(func() { _, _ = eve.api(t).Follow(ctx, eve.id, func(client.TicketEvent) {}) })
	all.Go(func() { _, _ = leader.NextParty(ctx, party, "") })
	p.expectEvents(t, ghost, "created", "expired unheard")
	stop()
	all.Wait()
	if a := ghost.result(t); a.Error != "unheard" {
		t.Errorf("a ticket that nobody asked for gets %+v", a)
	}
	// They are still there, and the ghost takes no seat.
	late := p.ticket(t, "late", attributes{"skill": 8000})
	together(t, ada, p.ticket(t, "bob", attributes{"skill": 3000}))
	together(t, eve, p.ticket(t, "carol", attributes{"skill": 5000}))
	together(t, &ticket{p: p, id: party.Search.Ticket, player: "leader"}, p.ticket(t, "dave", attributes{"skill": 1200}))
	late.mustWait(t)
}

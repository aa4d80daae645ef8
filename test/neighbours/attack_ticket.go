package main

import (
	"context"
	"fmt"
	"strings"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
)

// mostAttributes is how many attributes and properties a ticket may have.
const mostAttributes = 64

// junk is ticket i with attributes of which no function knows, from a number on.
func junk(from int) client.TicketRequest {
	t := client.TicketRequest{Attributes: map[string]float64{}}
	for k := range mostAttributes {
		t.Attributes[fmt.Sprintf("junk%d", from+k)] = 1
	}
	return t
}

// large is a ticket with the largest allowed body: attributes, and properties of 64 KiB in all.
func large() client.TicketRequest {
	t := junk(0)
	t.Properties = map[string][]byte{}
	for k := range 16 {
		t.Properties[fmt.Sprintf("property%d", k)] = []byte(strings.Repeat("x", 3000))
	}
	return t
}

func ticketAttacks() []attack {
	return []attack{
		{
			name: "junk-3", says: "three tickets whose 64 attributes no function knows",
			hold: standing(func(ctx context.Context, a *attacker) {
				_ = a.tickets(ctx, attackerProject, 3, func(int) client.TicketRequest { return junk(0) })
			}),
		},
		{
			name: "junk-3-undeclared", says: "the same, and the other config's function has no manifest",
			shared: func(m *arsenal) []byte { return m.undeclared },
			hold: standing(func(ctx context.Context, a *attacker) {
				_ = a.tickets(ctx, attackerProject, 3, func(int) client.TicketRequest { return junk(0) })
			}),
		},
		{
			name: "junk-many", says: "3,000 tickets with 9,600 names in all, 20 tickets for each name",
			hold: standing(func(ctx context.Context, a *attacker) {
				a.comes(ctx, 3000, func(i int) client.TicketRequest { return junk(i / 20 * 64) })
			}),
		},
		{
			name: "junk-rotating", says: "tickets with new names that are created and deleted without end",
			hold: flooding(func(ctx context.Context, a *attacker, i int) {
				t := junk(i * 64)
				t.Player = fmt.Sprintf("player-%d", i)
				id, err := a.api(attackerProject, catalog.Ticket).CreateTicket(ctx, t)
				if a.asked("ticket", err) && i%4 != 0 {
					a.asked("delete", a.api(attackerProject, catalog.Ticket).DeleteTicket(ctx, id, t.Player))
				}
			}),
		},
		{
			name: "tickets-large", says: "tickets with the largest body, without end",
			hold: flooding(func(ctx context.Context, a *attacker, i int) {
				t := large()
				t.Player = fmt.Sprintf("player-%d", i)
				_, err := a.api(attackerProject, catalog.Ticket).CreateTicket(ctx, t)
				a.asked("ticket", err)
			}),
		},
		{
			name: "tickets-churn", says: "tickets of a pool that are created and deleted without end",
			hold: flooding(func(ctx context.Context, a *attacker, i int) {
				t := prey(i)
				t.Player = fmt.Sprintf("player-%d", i)
				id, err := a.api(attackerProject, catalog.Ticket).CreateTicket(ctx, t)
				if a.asked("ticket", err) {
					a.asked("delete", a.api(attackerProject, catalog.Ticket).DeleteTicket(ctx, id, t.Player))
				}
			}),
		},
		{
			name: "tickets-unused", says: "12,150 tickets of a pool that no config has",
			hold: standing(func(ctx context.Context, a *attacker) {
				a.comes(ctx, crowd, prey)
			}),
		},
	}
}

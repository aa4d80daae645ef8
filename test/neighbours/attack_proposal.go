package main

import (
	"context"
	"fmt"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
)

func proposalAttacks() []attack {
	return []attack{
		{
			name: "proposals-4", says: "as many overlapping proposals as an answer has room for, over four tickets",
			prepare: waiting(4), hold: proposing("flood", 1),
		},
		{
			name: "proposals-7000", says: "the same over 7,000 tickets", prepare: waiting(7000), hold: proposing("flood", 1),
		},
		{
			name: "proposals-configs", says: "the same from ten configs over 2,000 tickets", prepare: waiting(2000),
			hold: proposing("flood", 10),
		},
		{
			name: "proposals-4-allowed", says: "as many overlapping proposals as a run may make, over four tickets",
			prepare: waiting(4), hold: proposing("allowed", 1),
		},
		{
			name: "proposals-7000-allowed", says: "the same over 7,000 tickets", prepare: waiting(7000),
			hold: proposing("allowed", 1),
		},
		{
			name: "proposals-configs-allowed", says: "the same from ten configs over 2,000 tickets", prepare: waiting(2000),
			hold: proposing("allowed", 10),
		},
		{
			name: "proposals-extras", says: "proposals with properties of 64 KiB, as many as an answer has room for",
			prepare: waiting(7000), hold: proposing("extras", 1),
		},
		{
			name: "proposals-small", says: "proposals with small properties, as many as a run may make",
			prepare: waiting(7000), hold: proposing("small", 1),
		},
		{
			name: "proposals-teams", says: "a proposal with as many empty teams as an answer has room for",
			prepare: waiting(7000), hold: proposing("teams", 1),
		},
		{
			name: "proposals-errors", says: "every ticket gets an error of 4 KiB, and others come",
			hold: proposing("errors", 1),
		},
		{
			name: "backfill-rewrite", says: "1,000 backfill tickets that a function changes at each run",
			prepare: func(ctx context.Context, a *attacker) error {
				many(ctx, 1000, 8, func(i int) bool {
					_, err := a.api(attackerProject, catalog.Backfill).CreateBackfill(ctx, client.BackfillRequest{
						Connection: fmt.Sprintf("127.0.0.1:%d", 1024+i), Attributes: map[string]float64{attackerAttribute: 1, "free": 5}})
					return a.asked("backfill", err)
				})
				return a.tickets(ctx, attackerProject, 4000, prey)
			},
			hold: proposing("rewrite", 1),
		},
	}
}

// arriving lets players come until ctx ends, so many a second. They do not wait.
func arriving(ctx context.Context, a *attacker, rate int) error {
	a.flood(ctx, rate, func(i int) {
		t := prey(i)
		t.Player = fmt.Sprintf("late-%d", i)
		_, err := a.api(attackerProject, catalog.Ticket).CreateTicket(ctx, t)
		a.asked("ticket", err)
	})
	return nil
}

// proposing is a function with n configs, for which players come.
func proposing(how string, configs int) func(context.Context, *attacker, func()) error {
	return func(ctx context.Context, a *attacker, ready func()) error {
		a.start(ctx, attackerProject, hostileName, a.made.hostile)
		for i := range configs {
			a.put(ctx, fmt.Sprintf("bad-%d", i), how)
		}
		ready()
		return arriving(ctx, a, comers)
	}
}

// comers is how many tickets come a second for functions that match some at each run.
const comers = 100

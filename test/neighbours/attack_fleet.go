package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
)

// namings are ways to name the victims' fleet: some hosting systems do not regard letter case, and other rules fit some
// of them first.
func namings() []client.Hosting {
	return []client.Hosting{
		{Profile: "good", FleetID: theirs}, {FleetID: theirs}, {Profile: theirs, FleetID: theirs},
		{Profile: slowProfile, FleetID: theirs}, {Profile: "good", FleetID: strings.ToUpper(theirs)},
	}
}

// fleetAttacks are against the fleet of another project. The config service is not given the hosting rules, with which
// it would refuse such a config: the allocators have to.
func fleetAttacks() []attack {
	return []attack{
		{
			name: "fleet", says: "configs that name the fleet of another project, and players for them", fleet: true,
			hold: func(ctx context.Context, a *attacker, ready func()) error {
				a.start(ctx, attackerProject, hostileName, a.made.hostile)
				taken := func(i int) bool {
					c := configOf(hostileName, attackerAttribute, map[string]any{"how": "any"})
					c.Hosting = &namings()[i%len(namings())]
					return a.putConfig(ctx, attackerProject, fmt.Sprintf("bad-%d", i%len(namings())), c)
				}
				for i := range namings() {
					taken(i)
				}
				ready()
				// Games that run may not take servers of the fleet either.
				_, err := a.api(attackerProject, catalog.Backfill).CreateBackfill(ctx, client.BackfillRequest{
					Connection: "127.0.0.1:1024", Attributes: map[string]float64{attackerAttribute: 1}})
				a.asked("backfill", err)
				var trying sync.WaitGroup
				defer trying.Wait()
				trying.Go(func() { a.flood(ctx, slower(a), func(i int) { taken(i) }) })
				return arriving(ctx, a, comers)
			},
		},
	}
}

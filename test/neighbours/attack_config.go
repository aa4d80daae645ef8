package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/catalog"
)

// mostConfigs is where an attack stops that the service does not stop.
const mostConfigs = 400

// wideConfig is a config with many filters: 18 pools with 64 filters each.
func wideConfig(i int) client.Config {
	c := configOf(hostileName, attackerAttribute, map[string]any{"how": "none", "i": i})
	for p := range 18 {
		var filters []client.PoolFilter
		for f := range 64 {
			least := -float64(i*p + f)
			filters = append(filters, client.PoolFilter{Attribute: fmt.Sprintf("filter%d", f), Min: &least})
		}
		c.Pools[fmt.Sprintf("pool%d", p)] = filters
	}
	return c
}

// segmented is a config with as many segments as it may have.
func segmented(i int) client.Config {
	c := configOf(hostileName, attackerAttribute, map[string]any{"how": "none", "i": i})
	c.Pools["everyone"][0].Segmentation = &client.Segmentation{DistributionType: "Uniform",
		SegmentBehaviorType: "BucketCount", Value: 250}
	return c
}

// configs puts as many configs as the service takes.
func configs(n int, of func(i int) client.Config) func(context.Context, *attacker, func()) error {
	return standing(func(ctx context.Context, a *attacker) {
		a.start(ctx, attackerProject, hostileName, a.made.hostile)
		refused := 0
		done := 0
		for i := 0; i < n && refused < 20 && ctx.Err() == nil; i++ {
			if a.putConfig(ctx, attackerProject, fmt.Sprintf("bad-%d", i), of(i)) {
				done++
			} else {
				refused++
				pause(ctx, 100*time.Millisecond) // it may be the limit on requests
			}
		}
		a.note("%d of %d configs were taken", done, n)
	})
}

func configAttacks() []attack {
	return []attack{
		{
			name: "configs-150", says: "150 configs with 1,152 filters each, over 500 tickets", prepare: waiting(500),
			hold: configs(150, wideConfig),
		},
		{
			name: "configs-400", says: "400 configs over 500 tickets", prepare: waiting(500),
			hold: configs(mostConfigs, func(i int) client.Config {
				return configOf(hostileName, attackerAttribute, map[string]any{"how": "none", "i": i})
			}),
		},
		{
			name: "configs-large", says: "400 configs with settings of 50 KiB", prepare: waiting(100),
			hold: configs(mostConfigs, func(i int) client.Config {
				return configOf(hostileName, attackerAttribute, map[string]any{"how": "none", "i": i,
					"text": strings.Repeat("x", 50<<10)})
			}),
		},
		{
			name: "segments", says: "100 configs with 250 segments each, over 500 tickets", prepare: waiting(500),
			hold: configs(100, segmented),
		},
		{
			name: "configs-churn", says: "configs that are put and deleted without end", prepare: waiting(100),
			hold: func(ctx context.Context, a *attacker, ready func()) error {
				a.start(ctx, attackerProject, hostileName, a.made.hostile)
				// Made before: to make them takes the sender more time than the service takes to refuse them.
				var texts [50]json.RawMessage
				for i := range texts {
					texts[i], _ = json.Marshal(wideConfig(i)) // all of it can be JSON
				}
				ready()
				a.flood(ctx, a.options.Flood, func(i int) {
					at := i % len(texts)
					name := fmt.Sprintf("bad-%d", at)
					if a.putText(ctx, attackerProject, name, texts[at]) {
						a.asked("delete", a.api(attackerProject, catalog.Config).DeleteConfig(ctx, name))
					}
				})
				return nil
			},
		},
	}
}

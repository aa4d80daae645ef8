package main

import (
	"context"
	"fmt"

	"matchmaker.dev/pkg/client"
)

// crowd is how many tickets the expensive functions are given.
const crowd = 12_150

// manifests uploads n functions with a module, each with a config.
func manifests(n int, module func(*arsenal) []byte) func(context.Context, *attacker, func()) error {
	return standing(func(ctx context.Context, a *attacker) {
		for i := range n {
			name := fmt.Sprintf("%s-%d", hostileName, i)
			if a.start(ctx, attackerProject, name, module(a.made)) {
				a.putConfig(ctx, attackerProject, name, configOf(name, attackerAttribute, map[string]any{"how": "none"}))
			}
		}
	})
}

// named prepares tickets that have the attributes and properties of a manifest.
func named(n int) func(context.Context, *attacker) error {
	return func(ctx context.Context, a *attacker) error {
		return a.tickets(ctx, attackerProject, n, func(i int) client.TicketRequest {
			t := prey(i)
			t.Properties = map[string][]byte{}
			for k, name := range names(allowedNames)[:32] {
				t.Properties[name] = []byte("value")
				if k < mostAttributes-1 {
					t.Attributes[name] = float64(k)
				}
			}
			return t
		})
	}
}

func manifestAttacks() []attack {
	return []attack{
		{
			name: "attributes-11000", says: "two functions whose manifests name 11,000 attributes, over 12,150 tickets",
			prepare: waiting(crowd),
			hold:    manifests(2, func(m *arsenal) []byte { return m.attributes[allNames] }),
		},
		{
			name: "attributes-256", says: "five functions whose manifests name 256 attributes, over 12,150 tickets",
			prepare: named(crowd),
			hold:    manifests(5, func(m *arsenal) []byte { return m.attributes[allowedNames] }),
		},
		{
			name: "properties-11000", says: "two functions whose manifests name 11,000 properties, over 12,150 tickets",
			prepare: waiting(crowd),
			hold:    manifests(2, func(m *arsenal) []byte { return m.properties[allNames] }),
		},
		{
			name: "properties-256", says: "five functions whose manifests name 256 properties, over 12,150 tickets",
			prepare: named(crowd),
			hold:    manifests(5, func(m *arsenal) []byte { return m.properties[allowedNames] }),
		},
	}
}

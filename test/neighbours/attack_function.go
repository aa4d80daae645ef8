package main

import (
	"context"
	"fmt"

	"matchmaker.dev/services/internal/platform/catalog"
)

func functionAttacks() []attack {
	return []attack{
		{
			name: "hang", says: "four configs of a function that never returns; the other config has the same function",
			shared: func(m *arsenal) []byte { return m.hostile }, prepare: waiting(4),
			hold: standing(func(ctx context.Context, a *attacker) {
				for i := range 4 {
					a.put(ctx, fmt.Sprintf("bad-%d", i), "hang")
				}
			}),
		},
		{
			name: "hang-configs", says: "20 configs of a function that never returns; the other config has another function",
			prepare: waiting(4), hold: proposing("hang", 20),
		},
		{
			name: "hang-functions", says: "15 functions that never return, each with a config", prepare: waiting(4),
			hold: standing(func(ctx context.Context, a *attacker) { hanging(ctx, a, attackerProject, 15) }),
		},
		{
			name: "hang-projects", says: "50 projects with a function each that never returns",
			hold: standing(func(ctx context.Context, a *attacker) {
				many(ctx, 50, 4, func(i int) bool {
					project := fmt.Sprintf("%s-%d", attackerProject, i)
					return a.tickets(ctx, project, 2, prey) == nil && hanging(ctx, a, project, 1)
				})
			}),
		},
		{name: "sleep", says: "a function that sleeps", prepare: waiting(4), hold: misbehave("sleep")},
		{name: "trap", says: "a function that traps at each run", prepare: waiting(4), hold: misbehave("trap")},
		{name: "fail", says: "a function that fails at each run", prepare: waiting(4), hold: misbehave("fail")},
		{
			name: "trap-at-start", says: "functions that trap as soon as they start, 10 of them", prepare: waiting(4),
			hold: doing(2, func(ctx context.Context, a *attacker, i int) {
				module := assemble(fmt.Sprint("start ", i), function{export: "_initialize", code: []byte{0x00}})
				a.upload(ctx, attackerProject, fmt.Sprintf("%s-%d", hostileName, i%10), module)
			}),
		},
		{name: "eat", says: "a function that takes all memory and hangs", prepare: waiting(4), hold: misbehave("eat")},
		{
			name: "eat-functions", says: "15 functions that take all memory, each with a config", prepare: waiting(4),
			hold: standing(func(ctx context.Context, a *attacker) {
				many(ctx, 15, 4, func(i int) bool {
					name := fmt.Sprintf("%s-%d", hostileName, i)
					return a.start(ctx, attackerProject, name, a.made.hostile) && a.putConfig(ctx, attackerProject, name,
						configOf(name, attackerAttribute, map[string]any{"how": "eat"}))
				})
			}),
		},
		{name: "log", says: "a function that prints lines without end", prepare: waiting(4), hold: misbehave("shout")},
		{
			name: "log-runs", says: "a function that prints what it may in each run, with ten configs", prepare: waiting(4),
			hold: proposing("chatter", 10),
		},
		{
			name: "restart", says: "restarts of ten functions without end",
			hold: func(ctx context.Context, a *attacker, ready func()) error {
				var all []string
				for i := range 10 {
					all = append(all, fmt.Sprintf("%s-%d", hostileName, i))
					a.start(ctx, attackerProject, all[i], a.made.hostile)
				}
				ready()
				a.flood(ctx, a.options.Flood, func(int) {
					_, err := a.api(attackerProject, catalog.Registry).RestartFunctions(ctx, all...)
					a.asked("restart", err)
				})
				return nil
			},
		},
	}
}

// hanging starts functions of a project that never return.
func hanging(ctx context.Context, a *attacker, project string, n int) bool {
	return n == many(ctx, n, 4, func(i int) bool {
		name := fmt.Sprintf("%s-%d", hostileName, i)
		return a.start(ctx, project, name, a.made.hostile) && a.putConfig(ctx, project, name,
			configOf(name, attackerAttribute, map[string]any{"how": "hang"}))
	})
}

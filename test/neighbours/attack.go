package main

import (
	"context"
	"slices"
	"sync"
	"time"
)

// attacks lists all attacks. A name begins with what is attacked with.
func attacks() []attack {
	return slices.Concat([]attack{{name: "nothing", says: "no attack: how much the measurement itself varies"}},
		ticketAttacks(), manifestAttacks(), proposalAttacks(), functionAttacks(), configAttacks(), uploadAttacks(),
		requestAttacks(), matchAttacks(), fleetAttacks())
}

// standing is an attack that only has to be set up.
func standing(set func(context.Context, *attacker)) func(context.Context, *attacker, func()) error {
	return func(ctx context.Context, a *attacker, ready func()) error {
		set(ctx, a)
		ready()
		<-ctx.Done()
		return nil
	}
}

// doing is an attack that does something over and over, in so many lanes. They begin at the rate of floods.
func doing(lanes int, do func(ctx context.Context, a *attacker, i int)) func(context.Context, *attacker, func()) error {
	return func(ctx context.Context, a *attacker, ready func()) error {
		ready()
		var all sync.WaitGroup
		defer all.Wait()
		for lane := range lanes {
			all.Go(func() {
				for i := lane; ctx.Err() == nil; i += lanes {
					do(ctx, a, i)
				}
			})
			if !pause(ctx, time.Second/time.Duration(a.options.Flood)) {
				break
			}
		}
		return nil
	}
}

// flooding is an attack that sends requests without end, at the rate that the options say.
func flooding(do func(ctx context.Context, a *attacker, i int)) func(context.Context, *attacker, func()) error {
	return func(ctx context.Context, a *attacker, ready func()) error {
		ready()
		a.flood(ctx, a.options.Flood, func(i int) { do(ctx, a, i) })
		return nil
	}
}

// misbehave is a function of the attacker's that does what how says, and a config of it.
func misbehave(how string) func(context.Context, *attacker, func()) error {
	return standing(func(ctx context.Context, a *attacker) {
		a.start(ctx, attackerProject, hostileName, a.made.hostile)
		a.put(ctx, "bad", how)
	})
}

package search

import "matchmaker.dev/pkg/matchfn/rules"

// premade is a rules.Premade.
type premade rules.Premade

func (c *premade) holds(b *builder, _ int) bool {
	least, on := b.at(c.Players)
	with := 0
	for _, team := range b.teams {
		if n, _ := b.stat(rules.StatParty, "", team); n >= least {
			with++
		}
	}
	return !on || with == 0 || with == len(b.teams)
}

package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// The conditions of conditions. All is taken apart before, where it is a rule.
type (
	allOf   rules.All
	anyOf   rules.AnyOf
	oneOf   rules.One
	negated rules.Not
)

func (c *allOf) holds(b *builder, region int) bool { return b.holding(c.Of, region) == len(c.Of) }

func (c *anyOf) holds(b *builder, region int) bool { return b.holding(c.Of, region) > 0 }

func (c *oneOf) holds(b *builder, region int) bool { return b.holding(c.Of, region) == 1 }

func (c *negated) holds(b *builder, region int) bool { return !b.holds(c.Of, region) }

// holding is how many conditions hold.
func (b *builder) holding(of []rules.Condition, region int) (n int) {
	for _, c := range of {
		if b.holds(c, region) {
			n++
		}
	}
	return n
}

// compares: it refuses tickets if each of its conditions does, also in a part of the match.
func (c *anyOf) compares() (of rules.Of, refuses, closed bool) {
	return "", !slices.ContainsFunc(c.Of, func(one rules.Condition) bool {
		part, is := conditionOf(one).(refuser)
		if !is {
			return true
		}
		scope, refuses, closed := part.compares()
		return !refuses || !closed || scope == rules.InTeams
	}), false
}

// fits: the match may hold by another one, as long as there is one.
func (c *anyOf) fits(b *builder, t uint32, others, team []uint32) bool {
	return slices.ContainsFunc(c.Of, func(one rules.Condition) bool {
		part, is := conditionOf(one).(refuser)
		return !is || part.fits(b, t, others, team)
	})
}

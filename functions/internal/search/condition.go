package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// condition is a rules.Condition as the search looks at it. Each kind has a file.
type condition interface {
	// holds reports whether it holds in the whole match, in a region.
	holds(b *builder, region int) bool
}

// refuser is a condition that can refuse a ticket before the match is whole.
type refuser interface {
	condition
	// compares returns the scope, whether fits can refuse a ticket, and whether the condition is monotone: true for a
	// match implies true for every subset.
	compares() (of rules.Of, refuses, closed bool)
	// fits reports whether a ticket may be with others in a match and in a team, by the loosest that bounds may be.
	fits(b *builder, t uint32, others, team []uint32) bool
}

// nearer is a condition of which a match can use a part.
type nearer interface {
	condition
	// near reports whether the match, which it allows, uses at most a part of its bound. It is a rule of s.all.
	near(b *builder, rule int, part float64) bool
}

// measurer is a condition that measures a match.
type measurer interface {
	condition
	measureName() string // empty for nothing
	measure(b *builder) float64
}

// every reports whether something holds for each of a list.
func every[T any](list []T, holds func(T) bool) bool {
	for _, one := range list {
		if !holds(one) {
			return false
		}
	}
	return true
}

func conditionOf(need rules.Condition) condition {
	switch c := need.(type) {
	case *rules.Same:
		return (*same)(c)
	case *rules.Spread:
		return (*spread)(c)
	case *rules.Share:
		return (*sharing)(c)
	case *rules.Overlap:
		return (*overlap)(c)
	case *rules.Holders:
		return (*holders)(c)
	case *rules.Total:
		return (*sum)(c)
	case *rules.Gap:
		return (*gap)(c)
	case *rules.Compare:
		return (*comparison)(c)
	case *rules.Latency:
		return (*latency)(c)
	case *rules.Avoid:
		return (*avoid)(c)
	case *rules.Premade:
		return (*premade)(c)
	case *rules.All:
		return (*allOf)(c)
	case *rules.AnyOf:
		return (*anyOf)(c)
	case *rules.One:
		return (*oneOf)(c)
	case *rules.Not:
		return (*negated)(c)
	}
	return nil
}

// rule is a rule with its condition.
type rule struct {
	rules.Rule
	is condition
}

// holds reports whether a condition holds in the whole match.
func (b *builder) holds(need rules.Condition, region int) bool {
	return b.fulfils(conditionOf(need), region)
}

func (b *builder) fulfils(c condition, region int) bool {
	b.work--
	holds := c.holds(b, region)
	b.charge()
	return holds
}

// among are the tickets that a ticket is compared with, of the tickets in the match and in its team.
func (b *builder) among(s rules.Scope, others, team []uint32) []uint32 {
	switch s.Of {
	case rules.InTeam:
		return team
	case rules.InMatch:
		return others
	case rules.BesideAnchor:
		return []uint32{b.anchor}
	}
	return nil
}

// groups are the tickets that a condition looks at together.
func (b *builder) groups(s rules.Scope) [][]uint32 {
	switch s.Of {
	case rules.InTeam:
		return b.teams
	case rules.InTeams:
		return b.teamsOf(s.Teams)
	case rules.BesideAnchor:
		groups := [][]uint32{{b.anchor}}
		for _, t := range b.chosen {
			if t != b.anchor {
				groups = append(groups, []uint32{b.anchor, t})
			}
		}
		return groups
	}
	b.one[0] = b.chosen
	return b.one[:]
}

func (b *builder) teamsOf(names []string) (groups [][]uint32) {
	if names == nil {
		return b.teams
	}
	for i, team := range b.teams {
		if slices.Contains(names, b.rules.Teams[b.arranged.shapes[i]].Name) {
			groups = append(groups, team)
		}
	}
	return groups
}

package search

import "matchmaker.dev/pkg/matchfn/rules"

// Regionless is a rule set without regions, for tests.
var Regionless = regionless

// Tried is Search, and returns whether all combinations of what is left were tried: the work did not end before.
func Tried(r *rules.Rules, source Source, games *Games, work int) (found []Match, all bool) {
	s := newSearch(r, read(r, source))
	found = s.search(games, work)
	return found, !s.short
}

// NewDescriber returns a describer of the tickets of a source.
func NewDescriber(r *rules.Rules, source Source) *Describer { return newDescriber(read(r, source)) }

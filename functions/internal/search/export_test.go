package search

import "matchmaker.dev/pkg/matchfn/rules"

// Regionless is a rule set without regions, for tests.
var Regionless = regionless

// Search is [Session.Search] in the tickets of a source.
func Search(r *rules.Rules, source Source, games *Games, work int) []Match {
	found, _ := Tried(r, source, games, work)
	return found
}

// Tried is Search, and returns whether all combinations of what is left were tried: the work did not end before.
func Tried(r *rules.Rules, source Source, games *Games, work int) (found []Match, all bool) {
	s := newSearch(r, read(r, source))
	if games == nil {
		games = &Games{}
	}
	found = s.search(games, work)
	return found, !s.short
}

// NewDescriber returns a describer of the tickets of a source.
func NewDescriber(r *rules.Rules, source Source) *Describer { return newDescriber(read(r, source)) }

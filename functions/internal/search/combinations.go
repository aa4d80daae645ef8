package search

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// combinations is all combinations of an anchor and some tickets, for a new match or for a game.
type combinations struct {
	game   *openGame // nil for a new match
	anchor uint32
	others []uint32 // that come after it, or that are nearest to the game first
}

const (
	// firstShare is which part of the work for all combinations an anchor gets at first: one of so many, and of four times
	// as many as there are anchors.
	firstShare = 4 * few
	// leastShare is the least work that it gets.
	leastShare = 100
	// moreShare is how many times as much it gets when that was too little.
	moreShare = 8
)

// shareWork tries all combinations of some anchors, with a part of the work, and returns whether that was enough for
// all. Each gets little of it at first, and more after all were tried, if it needs more: an anchor with very many
// combinations leaves work to others, which may have few.
func (s *search) shareWork(open []combinations, left int) (found, all bool) {
	for share := max(leastShare, left/max(firstShare, 4*len(open))); len(open) > 0; share *= moreShare {
		var more []combinations
		for _, of := range open {
			if s.taken[of.anchor] || of.game != nil && of.game.got {
				continue
			}
			if left = min(left, s.work); left <= 0 {
				return found, false
			}
			ok, done, cost := s.tryCombinations(of, min(share, left))
			if found, left = found || ok, left-cost; !ok && !done {
				more = append(more, of)
			}
		}
		open = more
	}
	return found, true
}

// tryCombinations tries all combinations of an anchor with so much work. It is done if that was enough.
func (s *search) tryCombinations(of combinations, most int) (found, done bool, cost int) {
	if of.game == nil {
		found, cost = s.attempt(wholly, of.anchor, most, func() bool { return s.combine(of.anchor, of.others) })
		return found, s.entry(wholly, of.anchor).granted == 0, cost
	}
	left := s.work
	s.work, s.spare = most, left
	found = s.joinGame(of.game, of.anchor, of.others)
	done, cost = s.work > 0, most-max(0, s.work)
	s.work, s.spare = left-cost, 0
	return found, done, cost
}

// tryRemaining tries all combinations of the few tickets that are left, for games and for new matches, with all of the
// work that is left.
func (s *search) tryRemaining(order []uint32) {
	for found := true; found && s.work > 0; {
		first := s.gameCombinations(order)
		var then []combinations
		if s.short || len(first) > 0 {
			then = s.matchCombinations(order)
		}
		if s.rules.Backfill.First == rules.MatchesFirst {
			first, then = then, first
		}
		s.anchorsLeft = few
		var all bool
		found, all = s.shareWork(append(first, then...), s.work)
		s.short = !all
	}
}

// matchCombinations returns the anchors of new matches, of small groups.
func (s *search) matchCombinations(order []uint32) (all []combinations) {
	for _, group := range s.smallGroups(order) {
		for i, t := range group {
			all = append(all, combinations{anchor: t, others: group[i+1:]})
		}
	}
	return all
}

// gameCombinations returns the anchors for the games without a new player that few tickets may join, as far as not all
// combinations were tried.
func (s *search) gameCombinations(order []uint32) (all []combinations) {
	if len(s.running) == 0 {
		return nil
	}
	sizes := s.sizes(order)
	small := func(key uint32) bool { return int(key) < len(sizes) && sizes[key] <= few }
	ready := false
	for _, g := range s.running {
		if g.got || g.done || g.near == nil && !small(s.keys[g.from]) {
			continue
		}
		if !ready {
			s.begin(order)
			s.rankAll(order)
			ready = true
		}
		near := g.near
		if near == nil && s.work > 0 {
			leave := s.enter(g)
			near = s.joinable(g)
			leave()
		}
		all = append(all, s.combinationsWith(g, near)...)
	}
	return all
}

// combinationsWith returns the anchors for a game, of the tickets that are near.
func (s *search) combinationsWith(g *openGame, near []uint32) (all []combinations) {
	for _, anchor := range near {
		of := combinations{game: g, anchor: anchor}
		for _, t := range near {
			if s.rank[t] > s.rank[anchor] {
				of.others = append(of.others, t)
			}
		}
		all = append(all, of)
	}
	slices.SortFunc(all, func(a, b combinations) int { return cmp.Compare(s.rank[a.anchor], s.rank[b.anchor]) })
	return all
}

// joinGame tries all combinations of an anchor and the tickets that are left of some, for a game.
func (s *search) joinGame(g *openGame, anchor uint32, others []uint32) bool {
	defer s.enter(g)()
	left := slices.DeleteFunc(slices.Clone(others), func(t uint32) bool { return s.taken[t] })
	s.inOrder(anchor, left)
	g.got = s.join(anchor, left, math.MaxInt)
	if g.got {
		s.keep()
	}
	return g.got
}

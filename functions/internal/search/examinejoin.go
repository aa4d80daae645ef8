package search

import "slices"

// joinOf makes a match of a ticket, with others if need be, that joins a running game; nil if it finds none.
func (x *examiner) joinOf(t uint32) *Match {
	for _, g := range x.open {
		if x.work <= 0 {
			break
		}
		if _, barred := slices.BinarySearch(g.Barred, t); barred || x.keys[t] != x.keys[g.from] {
			continue
		}
		if m := x.joins(t, g); m != nil {
			return m
		}
	}
	return nil
}

// joins is joinOf for one game: with the ticket as the anchor, then with older ones.
func (x *examiner) joins(t uint32, g *openGame) *Match {
	leave := x.enter(g)
	near := slices.Clone(x.joinable(g))
	m := x.joinWith(t, t, near)
	leave()
	if m != nil {
		return m
	}
	defer x.enter(g, t)()
	anchors := olderAnchors
	for _, anchor := range near {
		if x.rank[anchor] >= x.rank[t] {
			continue
		}
		if m := x.joinWith(anchor, t, near); m != nil {
			return m
		}
		if anchors--; anchors == 0 || x.work <= 0 {
			break
		}
	}
	return nil
}

// joinWith tries an anchor with the tickets near the game that come after it. The match has the ticket in any case.
func (x *examiner) joinWith(anchor, t uint32, near []uint32) *Match {
	candidates := slices.DeleteFunc(slices.Clone(near), func(o uint32) bool {
		return o == t || x.rank[o] <= x.rank[anchor]
	})
	x.inOrder(anchor, candidates)
	if !x.join(anchor, candidates, x.stepsFor(candidates)) {
		return nil
	}
	m := x.b.match
	return &m
}

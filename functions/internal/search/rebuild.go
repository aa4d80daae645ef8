package search

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// rebuildShare is which part of an anchor's even share of the work may be spent on building again: one of so many.
	rebuildShare = 4
	// minRebuildWork is the least work with which that is begun.
	minRebuildWork = 200
)

// rebuild builds other matches of an anchor, of no fewer players, if there are preferences, and keeps the cheapest. The
// first match takes the nearest tickets in any region, and then any in the region that is left. So rebuild tries each
// region by itself, and then without the tickets that are farthest from the anchor.
func (s *search) rebuild(anchor uint32, limit int) {
	b := s.b
	share := min(s.work, max(s.spare, s.work)/(rebuildShare*max(1, s.anchorsLeft)))
	if len(s.rules.Prefer) == 0 || share < minRebuildWork {
		return
	}
	left := s.work - share
	s.work = share
	first, match, price := b.region, b.match, b.price
	b.least = b.total
	regions, regional := uint64(1), first >= 0
	if regional {
		regions = b.reach(anchor) & (^uint64(0) >> (MaxRegions - len(s.regions)))
	}
	for ; regions != 0 && s.work > 0; regions &= regions - 1 {
		built := true // whether the first match is of these tickets
		if regional {
			b.start, built = regions&-regions, bits.TrailingZeros64(regions) == first
		}
		near, before := s.near(anchor, limit, nil), -1
		if built {
			before = len(near)
			near = s.within(anchor, near, &match)
		}
		for len(near) != before && s.work > 0 && s.buildOf(anchor, near) {
			before = len(near)
			near = s.within(anchor, near, &b.match)
			if b.price.less(price) && b.anywhere() && b.price.less(price) {
				match, price = b.match, b.price
			}
		}
		b.start = ^uint64(0)
	}
	b.match, b.least = match, 0
	s.work += left
}

// anywhere looks in which region the match is best, if it was built for one of them.
func (b *builder) anywhere() bool {
	one := b.start
	b.start = ^uint64(0)
	b.refresh()
	ok := b.accept()
	if ok {
		b.keep()
	}
	b.start = one
	return ok
}

// within returns the tickets that are nearer to an anchor than the farthest of a match.
func (s *search) within(anchor uint32, tickets []uint32, m *Match) []uint32 {
	apart := func(t uint32) float64 { return math.Abs(s.values[t] - s.values[anchor]) }
	farthest := 0.0
	for _, team := range m.Teams {
		for _, t := range team.Tickets {
			farthest = greater(farthest, apart(t))
		}
	}
	return slices.DeleteFunc(tickets, func(t uint32) bool { return apart(t) >= farthest })
}

package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// pairs finds matches of two tickets of a player each, where spreads and keys are all that the rules have. It finds
// what try would, faster: most of a crowd that plays one against one is matched so. nil for other rules.
type pairSearch struct {
	// measures are the pruners whose spans Match.Measures has, in its order.
	measures []int
	teams    []Team    // memory for matches
	values   []float64 // memory for their measures
	bounds   []float64 // of the pruners, of the anchor
}

// findPairSearch finds out whether all matches have two players, and all that the rules look at are spreads and keys.
func (s *search) findPairSearch() {
	r := s.rules
	if len(s.arrangements) != 1 || len(s.roles.names) > 0 || len(r.Prefer) > 0 || len(r.Order) > 0 || s.masks != nil ||
		len(s.totals) > 0 || r.Patience != nil || r.Backfill.Create != "" || !r.Players.Min.Constant() ||
		!r.Players.Max.Constant() || s.most != 2 {
		return
	}
	places := 0
	for _, n := range s.arrangements[0].limits {
		places += n
	}
	if places != 2 || s.arrangements[0].fewest != 2 {
		return
	}
	for i := range r.Teams {
		t := &r.Teams[i]
		if !t.Size.Min.Constant() || !t.Size.Max.Constant() || !t.Copies.Min.Constant() || !t.Copies.Max.Constant() {
			return
		}
	}
	for i := range s.all {
		if s.all[i].Active != nil || s.fastChecks[i].pruner < 0 && !s.fastChecks[i].key {
			return
		}
	}
	of := &pairSearch{bounds: make([]float64, len(s.pruners))}
	for i := range s.pruners {
		g := &s.pruners[i]
		if g.near == nil || g.scope != rules.InMatch || !s.byAnchor(g.bound) { // else the age is not known
			return
		}
	}
	for _, m := range s.measured {
		for i := range s.pruners {
			if s.pruners[i].near.column.value.Name == m.need.(*spread).Value {
				of.measures = append(of.measures, i)
				break
			}
		}
	}
	s.pairs = of
}

// matchPair makes a match of an anchor and the nearest ticket that may be with it, if there is one among some. It is
// sure if there is none among all.
func (s *search) matchPair(anchor uint32) (found, sure bool) {
	of, p, b := s.pairs, s.pool, s.b
	if p.size(anchor) != 1 {
		return false, false
	}
	b.anchor, b.newest, b.narrow = anchor, p.age[anchor], 1
	for i := range of.bounds {
		of.bounds[i] = own(s.pruners[i].bound, p.age[anchor])
	}
	far := b.far()
	l, values, at := &s.neighbors, s.neighbors.values, s.values[anchor]
	down, up := l.down[s.place[anchor]], l.up[s.place[anchor]]
	below, above, looked := math.Inf(1), math.Inf(1), 0
	if down >= 0 {
		below = at - values[down]
	}
	if up >= 0 {
		above = values[up] - at
	}
	for ; looked < 8*(s.most+1); looked++ {
		next := down
		if above < below {
			if above > far {
				break
			}
			if next, above, up = up, math.Inf(1), l.up[up]; up >= 0 {
				above = values[up] - at
			}
		} else {
			if down < 0 || below > far {
				break
			}
			if below, down = math.Inf(1), l.down[down]; down >= 0 {
				below = at - values[down]
			}
		}
		if t := s.sorted[next]; p.size(t) == 1 && s.inBounds(anchor, t) {
			s.work -= 12 + looked/2
			s.keepPair(anchor, t)
			return true, true
		}
	}
	s.work -= 4 + looked/2
	if looked == 8*(s.most+1) {
		return false, false
	}
	s.low, s.high = s.at(down), s.at(up)
	if below > far && above > far {
		b.noteFar(lesser(below, above))
	}
	return false, true
}

// inBounds reports whether two tickets are within all spreads.
func (s *search) inBounds(anchor, t uint32) bool {
	for i, bound := range s.pairs.bounds {
		low, high := s.pruners[i].near.both(anchor, t)
		if high-low <= bound || bound > math.MaxFloat64 {
			continue
		}
		if span := rounding.Apart(low, high); span > bound {
			s.b.refused[i] = lesser(s.b.refused[i], span)
			return false
		}
	}
	return true
}

// both returns the least and the greatest number of two tickets. Without any, the least is the greater.
func (of *spans) both(t, o uint32) (low, high float64) {
	return lesser(of.low[t], of.low[o]), greater(of.high[t], of.high[o])
}

// keepPair keeps the match of an anchor and another ticket, and takes both.
func (s *search) keepPair(anchor, t uint32) {
	of, all := s.pairs, s.arrangements[0]
	tickets := piece(&s.b.free, 2)
	tickets[0], tickets[1] = anchor, t
	m := Match{Age: s.pool.age[anchor], Game: -1, Teams: piece(&of.teams, len(all.shapes)),
		Measures: piece(&of.values, len(of.measures)), More: s.commonOf(tickets[:2])}
	for i, shape := range all.shapes {
		n := all.limits[i]
		m.Teams[i] = Team{Shape: shape, Tickets: tickets[:n:n]}
		tickets = tickets[n:]
	}
	for i, pruner := range of.measures {
		low, high := s.pruners[pruner].near.both(anchor, t)
		v := high - low
		if !(v >= 0) || math.IsInf(v, 0) {
			v = -1
		}
		m.Measures[i] = v
	}
	s.found = append(s.found, m)
	s.take(anchor)
	s.take(t)
	s.leave(t) // the anchor leaves as all anchors do
}

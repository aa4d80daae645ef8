package search

import (
	"cmp"
	"math"
	"slices"
)

// examiner looks at single tickets.
type examiner struct {
	*search
	order     []uint32 // of anchors
	rank      []int    // of each ticket in order, -1 for tickets that may be in no match
	open      []*openGame
	joinsOnly bool // whether only games are looked at
	lacking   int  // how many players there are too few for any match
	never     bool // whether there is no match for that, or for a role
	short     bool // whether the steps were too few for all combinations of the ticket that is examined
	// takers is how many players take each role, of the keys of the tickets that are asked about.
	// allTakers is the same of all tickets.
	takers    map[uint32][]int
	allTakers []int
	// sizes is how many tickets of each key have so many players, if all of a key fit with each other; else nil.
	sizes map[uint32][]int
}

// sortWork is how much work it is to sort one candidate.
const sortWork = 4

// limit is with how many of the nearest tickets a match is tried.
func (x *examiner) limit() int { return min(3*x.most+8, 400) }

// tries is about how much work it is to look for the nearest tickets, and to try in few steps whether they are a match:
// a quarter of the work is for the steps.
func (x *examiner) tries() int {
	return looksPerNeighbor*x.limit()/looksPerWork + x.limit() + 4*(40+2*x.limit())
}

// stepsFor is in how many steps it is tried whether candidates make a match.
func (x *examiner) stepsFor(candidates []uint32) int {
	if len(candidates) > few {
		return min(x.work/4, 200+12*len(candidates))
	}
	return x.work / 4
}

// examine looks for tickets that fit with one, for a match of them, and for a running game that it may join.
func (x *examiner) examine(t uint32, v *examination) {
	if x.rank[t] < 0 {
		v.complete, v.counted = true, true
		return
	}
	x.short = false
	if x.joinsOnly {
		v.counted = true
	} else {
		x.examineMatches(t, v)
	}
	if x.work > 0 {
		v.join = x.joinOf(t)
	}
	v.complete = v.counted && !x.short && x.work > 0
}

func (x *examiner) examineMatches(t uint32, v *examination) {
	at, limit := x.rank[t], x.limit()
	var older, younger []uint32
	likely := v.fit * len(x.order) / max(1, v.looked)
	if len(x.order)+sortWork*likely <= x.work/2 {
		older = x.fitting(t, x.order[:at], func(o uint32) bool { return x.compatibleWith(o, t) })
		x.b.pair(t)
		younger = x.fitting(t, x.order[at+1:], x.b.compatible)
		if x.work <= 0 {
			return
		}
		v.counted, v.candidates = true, len(older)+len(younger)
		x.work -= sortWork * v.candidates
		nearest := func(a, b uint32) int {
			return cmp.Or(cmp.Compare(x.distance(t, a), x.distance(t, b)), cmp.Compare(x.rank[a], x.rank[b]))
		}
		slices.SortFunc(older, nearest)
		slices.SortFunc(younger, nearest)
	} else if x.short = x.sizes == nil; !x.never {
		older, younger = x.nearest(t, limit)
	}
	if x.never {
		return
	}
	if v.match = x.matchOf(t, nil, slices.Clone(younger[:min(limit, len(younger))])); v.match != nil {
		v.soon = x.soon(v.match)
		return
	}
	for _, anchor := range older[:min(olderAnchors, len(older))] {
		if x.work <= 0 {
			break
		}
		// Of these, not all fit with the ticket: matchOf looks.
		near := slices.DeleteFunc(slices.Clone(x.near(anchor, limit, nil)), func(o uint32) bool {
			return o == t || x.rank[o] < x.rank[anchor]
		})
		if v.match = x.matchOf(anchor, []uint32{t}, near); v.match != nil {
			break
		}
	}
	v.soon = x.soon(v.match)
}

// nearest is the nearest tickets that fit with one: earlier anchors, and others.
func (x *examiner) nearest(t uint32, limit int) (older, younger []uint32) {
	for _, o := range slices.Clone(x.near(t, limit, nil)) {
		if x.rank[o] > x.rank[t] {
			younger = append(younger, o)
		} else if x.work--; x.compatibleWith(o, t) {
			older = append(older, o)
		}
	}
	return older, younger
}

// compatibleWith reports whether a ticket fits with an anchor before it.
func (x *examiner) compatibleWith(anchor, t uint32) bool {
	x.b.pair(anchor)
	return x.b.compatible(t)
}

// soon is within how many seconds the search expects a nearer match than one that it passed over; 0 if it did not.
func (x *examiner) soon(m *Match) float64 {
	if x.crowd == nil || m == nil {
		return 0
	}
	anchor, oldest := m.Teams[0].Tickets[0], 0.0
	for _, team := range m.Teams {
		for _, t := range team.Tickets {
			if oldest = math.Max(oldest, x.pool.age[t]); x.rank[t] < x.rank[anchor] {
				anchor = t
			}
		}
	}
	if oldest >= x.rules.Patience.Until {
		return 0
	}
	x.b.begin(anchor)
	share, soon := x.b.reservation(x.standing(anchor))
	if share >= 1 {
		return 0
	}
	return soon
}

// fitting are the tickets that fit with one, as a look at each says.
func (x *examiner) fitting(t uint32, others []uint32, fits func(uint32) bool) (all []uint32) {
	for _, o := range others {
		if x.work--; x.work <= 0 {
			return nil
		}
		if x.mayMeet(o, t) && fits(o) {
			all = append(all, o)
		}
	}
	return all
}

// mayMeet reports whether two tickets have the same key, and are not too large for a match.
func (x *examiner) mayMeet(t, o uint32) bool {
	return x.keys[o] == x.keys[t] && x.pool.size(o)+x.pool.size(t) <= x.most
}

func (x *examiner) distance(a, b uint32) float64 { return math.Abs(x.values[a] - x.values[b]) }

// matchOf makes a match of an anchor, tickets that must be in it, and candidates; nil if it finds none.
func (x *examiner) matchOf(anchor uint32, must, candidates []uint32) *Match {
	b := x.b
	b.begin(anchor)
	b.distant = b.far()
	x.inOrder(anchor, candidates)
	b.setCandidates(candidates, false)
	if x.masks != nil {
		for _, t := range must {
			b.reached[t] = b.reach(t)
		}
	}
	defer func() { b.must = nil }()
	steps := x.stepsFor(candidates)
	c := b.availableFor(anchor)
	b.steps, b.used = steps, 0
	for _, t := range must {
		c.tickets, c.players = c.tickets+1, min(c.players+b.pool.size(t), x.most)
	}
	if !b.tryArrangements(c, steps, func(a *arrangement) bool {
		b.begin(anchor)
		b.arrange(a)
		b.must = must
		return true
	}, func() bool { return b.place(anchor, -len(must)) }) {
		x.short = x.short || len(candidates) <= few && b.used >= b.steps
		return nil
	}
	return new(b.match)
}

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
	return new(x.b.match)
}

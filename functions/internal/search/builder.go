package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// builder makes one match around an anchor, and then another.
type builder struct {
	*search
	making
	scratch
	steps, used int
	comparisons int // of elements and pairs of players, that the work was not charged for
	trials      int // how many other matches may be looked at yet
	// repairs is how many matches whose teams are too uneven are still repaired. Where all combinations are tried, those
	// that exchanges make come anyway.
	repairs int
	free    []uint32 // memory for matches
}

// making is the match in the making.
type making struct {
	anchor     uint32
	candidates []uint32
	arranged   *arrangement
	teams      [][]uint32 // tickets
	players    []int      // of each team
	counts     [][1 << fewRoles]uint16
	total      int
	chosen     []uint32
	mask       uint64
	// low and high are the spans of what was chosen, of each pruner with spans; bounds the pruners' bounds.
	low, high, bounds []float64
	dormant           []bool    // of each pruner: whether it does not hold, by the age of the anchor
	refused           []float64 // of each pruner: the narrowest span that was too wide for its bound
	reachedMost       int       // the most players together since it began with so many teams
	open              []int     // players of the candidates from each on
	available         []int     // players that take each role
	// later is, for the candidates from each on, how many players take each role; takers is how many of the chosen do.
	later, takers []int
	left          []int // players that take each role, of all linked tickets
	newest        float64
	// ages are the ages of a complete match: oldest, newest, mean, the anchor's.
	ages [4]float64
	// region is the region of a complete match that is allowed, price what it costs.
	region int
	price  price
	match  Match
	// share is which part of its bounds a match with the anchor may use while all of its tickets can wait,
	// narrow the part that no match with the anchor is beyond.
	share, narrow float64
	// distant is beyond which distance to the anchor no ticket can be in a match with it.
	distant  float64
	reached  []uint64 // of each ticket, the regions that it reaches, if it is a candidate or the anchor
	flow     flow
	roleCost roleCost
	sums     sums
	// game is the running game that is filled; nil for a new match. must are the tickets that it begins with: members
	// whose teams are not known, and the anchor.
	game  *openGame
	must  []uint32
	start uint64 // the regions that there are
	// top is the most players, fewest the fewest, needs how many of each role there must be. least is the fewest of any
	// arrangement.
	top, fewest    int
	least          int
	needs, lacking []int
}

// scratch is memory that is used again and again.
type scratch struct {
	nearby          []uint32 // what near found
	orders          [][]int  // of emptiest, by depth
	saved           []float64
	undo            []move
	regionOrder     []int
	regionCosts     []float64
	numbersOf, list []float64
	magnitude       float64 // of the numbers that stat looked at
	squaresOf       []float64
	elements        []uint32
	strengths       []strength
	one             [1][]uint32
}

func newBuilder(s *search) *builder {
	n := len(s.pruners)
	return &builder{search: s, making: making{
		low: make([]float64, n), high: make([]float64, n), bounds: make([]float64, n), dormant: make([]bool, n),
		refused:   make([]float64, n),
		available: make([]int, len(s.roles.names)), left: make([]int, len(s.roles.names)),
		reached: make([]uint64, len(s.masks)),
		start:   ^uint64(0), top: s.most, share: 1, narrow: 1,
	}}
}

// begin begins with an anchor, which is in no team yet.
func (b *builder) begin(anchor uint32) {
	b.anchor, b.newest, b.repairs = anchor, b.pool.age[anchor], math.MaxInt
	b.applyPatience()
	b.forget()
	for i := range b.pruners {
		g := &b.pruners[i]
		if g.near != nil {
			b.bounds[i] = b.loosest(g.bound) * b.narrow
		}
		if g.active != nil {
			age := b.pool.age[anchor]
			b.noteChange(g.active, age)
			n, on := g.active.At(age)
			b.dormant[i] = !on || n == 0
		}
	}
	if len(b.totals) > 0 {
		b.beginSums()
	}
	b.boundLatencies()
}

// pair begins with a chosen anchor, to find the tickets that fit beside it.
func (b *builder) pair(anchor uint32) {
	b.begin(anchor)
	b.add(anchor)
	if b.masks != nil {
		b.reached[anchor] = b.reach(anchor)
		b.mask &= b.reached[anchor]
	}
}

// forget forgets what was chosen.
func (b *builder) forget() {
	b.chosen, b.mask = b.chosen[:0], b.start
	for i := range b.pruners {
		b.low[i], b.high[i] = math.Inf(1), math.Inf(-1)
	}
}

// add chooses a ticket.
func (b *builder) add(t uint32) {
	b.chosen = append(b.chosen, t)
	for i := range b.pruners {
		if near := b.pruners[i].near; near != nil {
			b.low[i], b.high[i] = lesser(b.low[i], near.low[t]), greater(b.high[i], near.high[t])
		}
	}
}

// setCandidates counts what candidates there are. If near found them, it is known which regions they reach.
func (b *builder) setCandidates(candidates []uint32, known bool) {
	b.candidates = candidates
	b.open = append(b.open[:0], make([]int, len(candidates)+1)...)
	n := len(b.available)
	b.later = append(b.later[:0], make([]int, n*(len(candidates)+1))...)
	for i := range b.available {
		b.available[i] = 0
	}
	for j := len(candidates) - 1; j >= 0; j-- {
		b.open[j] = b.open[j+1] + b.pool.size(candidates[j])
		b.count(candidates[j], b.available, 1)
		for i, takers := range b.available {
			b.later[n*j+i] = takers
		}
	}
	b.count(b.anchor, b.available, 1)
	if len(b.totals) > 0 {
		b.candidateSums()
	}
	if b.masks != nil && !known {
		b.work -= len(candidates)
		for _, t := range candidates {
			b.reached[t] = b.reach(t)
		}
		b.reached[b.anchor] = b.reach(b.anchor)
	}
}

// count adds the players of a ticket, each as by, for each role that they take: 1, or -1 to undo it.
func (b *builder) count(t uint32, takers []int, by int) {
	if b.roles.takes == nil {
		return
	}
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		takes := b.roles.takes[p]
		for i := range takers {
			if i >= 64 || takes&(1<<i) != 0 {
				takers[i] += by
			}
		}
	}
}

// insufficient reports whether the candidates from one on are too few for what the match lacks.
func (b *builder) insufficient(from int) bool {
	if b.total+b.open[from] < b.fewest {
		return true
	}
	n := len(b.takers)
	for i, need := range b.needs {
		if b.takers[i]+b.later[n*from+i] < need {
			return true
		}
	}
	return len(b.totals) > 0 && b.sumsLack(from)
}

// enough reports whether there are players for an arrangement.
func (b *builder) enough(a *arrangement) bool {
	if b.open[0]+b.pool.size(b.anchor) < a.fewest {
		return false
	}
	for i, n := range a.needs {
		if b.available[i] < n {
			return false
		}
	}
	return true
}

// arrange begins a match with so many teams.
func (b *builder) arrange(a *arrangement) {
	b.arranged, b.total, b.fewest, b.needs = a, 0, max(a.fewest, b.least), a.needs
	if b.full {
		b.fewest = max(b.fewest, a.fullest)
	}
	n := len(a.shapes)
	for len(b.teams) < n {
		b.teams = append(b.teams, nil)
	}
	b.teams = b.teams[:n]
	for i := range b.teams {
		b.teams[i] = b.teams[i][:0]
	}
	b.players = append(b.players[:0], make([]int, n)...)
	b.takers = append(b.takers[:0], make([]int, len(b.available))...)
	b.counts = append(b.counts[:0], make([][1 << fewRoles]uint16, n)...)
	b.sums.of, b.sums.saved = append(b.sums.of[:0], make([]float64, n*len(b.totals))...), b.sums.saved[:0]
}

// loosest returns the greatest number that a bound can have in any match with this anchor and what was chosen so far.
// It is infinite for one that may be off.
func (b *builder) loosest(bound *rules.Bound) float64 {
	to := b.loosestAt(bound)
	if bound.Clock == rules.Anchor || bound.Clock == rules.Oldest && b.rules.Priority == "" {
		return own(bound, to)
	}
	return loosestUntil(bound, to)
}

// loosestRange returns a range as wide as it can be in any match with this anchor and what was chosen so far.
func (b *builder) loosestRange(r rules.Range) (least, most float64) {
	least, most = math.Inf(-1), math.Inf(1)
	if r.Min != nil {
		b.noteLoosest(r.Min)
		if n, _, off := r.Min.Over(0, b.loosestAt(r.Min)); !off {
			least = n
		}
	}
	if r.Max != nil {
		b.noteLoosest(r.Max)
		most = b.loosest(r.Max)
	}
	return least, most
}

// compatible reports whether a ticket may be in a match with the anchor, as far as they alone say.
func (b *builder) compatible(t uint32) bool {
	if b.masks != nil {
		b.reached[t] = b.reach(t)
		if b.reached[t]&b.mask == 0 {
			return false
		}
	}
	newest := b.newest
	b.newest = lesser(newest, b.pool.age[t])
	fits := b.fit(t, nil)
	b.newest = newest
	return fits
}

// fit reports whether a ticket may join what was chosen, as the pruners say. team is the tickets of the team that it
// would join.
func (b *builder) fit(t uint32, team []uint32) bool {
	for i := range b.pruners {
		g := &b.pruners[i]
		if b.dormant[i] {
			continue
		}
		if g.near == nil {
			b.work--
			if b.game != nil {
				b.work -= len(b.chosen) / 8 // a game may have very many members
			}
			fits := g.need.fits(b, t, b.chosen, team)
			b.charge()
			if !fits {
				return false
			}
			continue
		}
		bound := b.bounds[i]
		if g.bound.Clock == rules.Newest {
			b.work--
			bound = b.loosest(g.bound) * b.narrow
		}
		low, high := b.low[i], b.high[i]
		if g.scope == rules.BesideAnchor {
			b.work--
			low, high = g.near.low[b.anchor], g.near.high[b.anchor]
		}
		span := rounding.Apart(lesser(low, g.near.low[t]), greater(high, g.near.high[t]))
		if g.bound.Clock == rules.Newest {
			b.noteMost(g.bound, b.newest, span, span <= bound)
		}
		if span > bound {
			b.refused[i] = lesser(b.refused[i], span)
			return false
		}
	}
	return true
}

// comparisonsPerStep is how many looks at elements, or at pairs of players, are a step of work. Small matches take
// fewer.
const comparisonsPerStep = 512

// charge charges the work for looks.
func (b *builder) charge() {
	b.work -= b.comparisons / comparisonsPerStep
	b.comparisons %= comparisonsPerStep
}

// lesser and greater are min and max, which are slow in WebAssembly.
func lesser(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

func greater(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}

// grow places the anchor and then candidates, until the match is whole.
func (b *builder) grow() bool { return b.place(b.anchor, 0) }

// place tries a ticket in each team, and goes on from there with the candidates from one on.
func (b *builder) place(t uint32, next int) bool {
	size := b.pool.size(t)
	if b.total+size > b.top {
		return false
	}
	newest, mask, before := b.newest, b.mask, len(b.saved)
	if b.masks != nil {
		if b.mask &= b.reached[t]; b.mask == 0 {
			b.mask = mask
			b.used++
			return false
		}
	}
	b.newest = lesser(newest, b.pool.age[t])
	for i := range b.low { // a copy of few numbers is slow in WebAssembly
		b.saved = append(b.saved, b.low[i], b.high[i])
	}
	found := false
	for _, i := range b.emptiest() {
		if b.players[i]+size > b.arranged.limits[i] || b.twin(i) || len(b.totals) > 0 && !b.sumsFit(i, t, size) {
			continue
		}
		b.used++
		b.work--
		if b.used > b.steps || b.work <= 0 {
			break
		}
		if found = b.placeIn(i, t, size, next, before); found {
			break
		}
	}
	b.newest, b.mask, b.saved = newest, mask, b.saved[:before]
	return found
}

// placeIn is place for one team. Where the spans were saved is before.
func (b *builder) placeIn(team int, t uint32, size, next, before int) (found bool) {
	fits := b.fit(t, b.teams[team])
	if !fits {
		return false
	}
	b.teams[team] = append(b.teams[team], t)
	b.players[team] += size
	b.total += size
	sums := 0
	if len(b.totals) > 0 {
		sums = b.addSums(team, t)
	}
	if b.join(team, t) {
		b.add(t)
		b.count(t, b.takers, 1)
		if found = b.more(next); !found {
			b.count(t, b.takers, -1)
			b.chosen = b.chosen[:len(b.chosen)-1]
			for i := range b.low {
				b.low[i], b.high[i] = b.saved[before+2*i], b.saved[before+2*i+1]
			}
		}
	}
	b.leave(team, t)
	if len(b.totals) > 0 {
		b.restoreSums(team, sums)
		b.sums.saved = b.sums.saved[:sums]
	}
	if !found {
		b.total -= size
		b.players[team] -= size
		b.teams[team] = b.teams[team][:len(b.teams[team])-1]
	}
	return found
}

// emptiest returns the teams, the fewest players first.
func (b *builder) emptiest() []int {
	depth := len(b.chosen)
	for len(b.orders) <= depth {
		b.orders = append(b.orders, nil)
	}
	order := b.orders[depth][:0]
	for i := range b.teams {
		order = append(order, i)
		for j := i; j > 0 && b.players[order[j]] < b.players[order[j-1]]; j-- {
			order[j], order[j-1] = order[j-1], order[j]
		}
	}
	b.orders[depth] = order
	return order
}

// twin reports whether a team is as empty as the one before it, of the same shape.
func (b *builder) twin(i int) bool {
	return !b.ordered && i > 0 && len(b.teams[i]) == 0 && len(b.teams[i-1]) == 0 &&
		b.arranged.shapes[i] == b.arranged.shapes[i-1]
}

// room reports whether a team may have room for a ticket, for its players and for their roles.
func (b *builder) room(t uint32) bool {
	first, end := b.pool.first[t], b.pool.first[t+1]
	size := int(end - first)
	if b.total+size > b.top {
		return false
	}
	for i, limit := range b.arranged.limits {
		if b.players[i]+size > limit || len(b.totals) > 0 && !b.sumsFit(i, t, size) {
			continue
		}
		r := &b.roles.shapes[b.arranged.shapes[i]]
		if r.most == nil || size > 1 {
			return true
		}
		takes, counts, full := int(r.takes[first]), &b.counts[i], false
		for set, most := range r.most {
			if set&takes == takes && counts[set] >= most {
				full = true
				break
			}
		}
		if !full {
			return true
		}
	}
	return false
}

// more adds candidates from one on. When no more can be added, the match may be whole: full matches are found first.
func (b *builder) more(from int) bool {
	if from < 0 { // so many tickets that must be in it are left
		return b.place(b.must[len(b.must)+from], from+1)
	}
	if b.total > b.reachedMost {
		b.reachedMost = b.total
	}
	if b.total < b.top {
		for j := from; j < len(b.candidates); j++ {
			if b.used > b.steps || b.work <= 0 || b.insufficient(j) {
				break
			}
			if b.room(b.candidates[j]) && b.place(b.candidates[j], j+1) {
				return true
			}
		}
	}
	return b.total >= b.fewest && b.complete()
}

package search

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// Games are the running games that tickets may join.
type Games struct {
	Running []Running
	// Roster has a ticket of one player for each member, game after game.
	Roster Source
	// Turn says with which game the search begins if there are too many for its work.
	Turn uint64
}

// Running is a game that runs.
type Running struct {
	Age     float64 // of the game, in seconds
	Members []Member
	Region  string
	// Room is how many players may join; negative for as many as the rules allow.
	Room int
	// Barred are the tickets that must not join, in ascending order.
	Barred []uint32
}

// Member is a player in a running game. The team and the role are empty if they are not known.
type Member struct{ Team, Role string }

const (
	// gamesShare is which part of the work is kept for running games: one of so many.
	gamesShare = 4
	// gameShare is which part of the work one game may take: one of so many.
	gameShare = 16
	// gameWork is the least work that a game is tried with.
	gameWork = 400
)

// openGame is a running game whose places are filled.
type openGame struct {
	*Running
	number int
	// members are tickets of the pool: first the ones whose team is known.
	members []uint32
	pinned  int // how many these are
	from    uint32
	region  int // its number, -1 for rules without regions
	// allJoinable is set if joinable found all tickets that may join it. near are these tickets if they are few; got is
	// set if some of them join, and done if it is known that none can.
	allJoinable, got, done bool
	near                   []uint32
}

// openGames returns the games that may be filled.
func (s *search) openGames() (all []*openGame) {
	at := uint32(s.pool.waiting)
	for i := range s.games.Running {
		g := &openGame{Running: &s.games.Running[i], number: i, from: at, region: -1}
		at += uint32(len(g.Members))
		if s.fillable(g) {
			g.place()
			all = append(all, g)
		}
	}
	slices.SortStableFunc(all, func(a, b *openGame) int { return cmp.Compare(b.Age, a.Age) })
	return all
}

// fillable reports whether any player may join a game at all.
func (s *search) fillable(g *openGame) bool {
	if active := s.rules.Backfill.Active; active != nil {
		if n, on := active.At(g.Age); !on || n == 0 {
			return false
		}
	}
	if len(g.Members) == 0 || len(g.Members) >= s.most || g.Room == 0 {
		return false
	}
	for i := range g.Members {
		t := g.from + uint32(i)
		if s.unfit[int(t)-s.pool.waiting] || s.keys[t] != s.keys[g.from] {
			return false
		}
	}
	if s.masks != nil {
		g.region = slices.Index(s.pool.regions, s.pool.names.numbers[g.Region])
		return g.Region != "" && g.region >= 0
	}
	return true
}

// place orders the members of a game.
func (g *openGame) place() {
	for _, known := range []bool{true, false} {
		for i, m := range g.Members {
			if (m.Team != "") == known {
				g.members = append(g.members, g.from+uint32(i))
			}
		}
		if known {
			g.pinned = len(g.members)
		}
	}
}

// fill lets tickets join the running games, the oldest game first.
func (s *search) fill(order []uint32) {
	games := slices.DeleteFunc(slices.Clone(s.running), func(g *openGame) bool { return g.got })
	if len(games) == 0 || s.work <= 0 {
		return
	}
	s.begin(order)
	s.rankAll(order)
	turn := 0
	if len(games)*gameWork > s.work {
		turn = int(s.games.Turn % uint64(len(games)))
	}
	most := max(gameWork, s.work/gameShare)
	for i := range games {
		left := s.work
		if left <= 0 {
			return
		}
		share := min(max(gameWork, left/(len(games)-i)), most, left)
		s.work = share
		s.fillGame(games[(i+turn)%len(games)])
		s.work += left - share
	}
}

// rankAll notes the order of the tickets that are lined up, to fill games.
func (s *search) rankAll(order []uint32) {
	s.rank = resize(s.rank, s.pool.tickets())
	for i, t := range order {
		s.rank[t] = uint32(i)
	}
	for i := range s.hops {
		s.hops[i] = resize(s.hops[i], len(s.sorted))
		for place := range s.hops[i] {
			s.hops[i][place] = int32(place + 2*i - 1)
		}
	}
}

// enter lets the builder make matches of the tickets that join a game, until leave is called. Each has the tickets that
// must be in it, and an anchor.
func (s *search) enter(g *openGame, must ...uint32) (leave func()) {
	b := s.b
	b.game, b.top = g, s.most
	if g.Room >= 0 {
		b.top = min(s.most, len(g.members)+g.Room)
	}
	if g.region >= 0 {
		b.start = 1 << g.region
		for _, m := range g.members {
			b.reached[m] = ^uint64(0)
		}
	}
	b.must = append(append(append(b.must[:0], g.members[g.pinned:]...), must...), 0)
	return func() { b.game, b.top, b.start, b.must = nil, s.most, ^uint64(0), b.must[:0] }
}

// fillGame lets tickets join a game, if some can.
func (s *search) fillGame(g *openGame) {
	b := s.b
	leave := s.enter(g)
	near := s.joinable(g)
	s.anchorsLeft = max(1, len(near))
	combinations := s.combinationsWith(g, near)
	if len(near) <= few {
		leave()
		_, all := s.shareWork(combinations, s.work)
		if g.done = g.allJoinable && all && !g.got && s.crowd == nil; g.allJoinable {
			g.near = near
		}
		return
	}
	defer leave()
	for _, of := range combinations {
		steps := min(s.work, max(40+2*len(near), min(200+12*len(near), s.work/8)))
		if steps <= 0 {
			return
		}
		b.nearby = append(b.nearby[:0], of.others...)
		s.inOrder(of.anchor, b.nearby)
		if s.join(of.anchor, b.nearby, steps) {
			g.got = true
			s.keep()
			return
		}
	}
}

// join makes a match of an anchor and candidates that join the game, if they can.
func (s *search) join(anchor uint32, candidates []uint32, steps int) bool {
	b := s.b
	b.work -= len(candidates)
	b.begin(anchor)
	b.distant = b.far()
	b.setCandidates(candidates, false)
	b.must[len(b.must)-1] = anchor
	if b.masks != nil {
		for _, t := range b.must {
			if !b.isMember(t) {
				b.reached[t] = b.reach(t)
			}
		}
	}
	c, found := b.availableToJoin(), false
	if steps == math.MaxInt {
		return b.tryAllFully(c, func(a *arrangement) bool {
			b.begin(anchor)
			b.repairs = mostRepairs
			return b.seat(a)
		}, func() bool { return b.more(-len(b.must)) })
	}
	s.eachArrangement(&c, func(a *arrangement) bool {
		b.begin(anchor)
		if len(candidates) <= few {
			b.repairs = mostRepairs
		}
		b.steps, b.used = steps, 0
		if b.seat(a) && b.more(-len(b.must)) {
			found = true
			return false
		}
		steps -= b.used + 1
		return steps > 0 && b.work > 0
	})
	return found
}

// seat begins a match with so many teams, in which those members of the game sit whose teams are known.
func (b *builder) seat(a *arrangement) bool {
	b.arrange(a)
	open := ever(b.rules.Backfill.Open)
	b.fewest, b.needs = max(0, a.fewest-open), append(b.lacking[:0], a.needs...)
	b.lacking = b.needs
	for i := range b.needs {
		b.needs[i] = max(0, b.needs[i]-open)
	}
	b.work -= len(b.game.members)
	for _, t := range b.game.members[:b.game.pinned] {
		i := b.teamOf(b.memberOf(t).Team)
		if i < 0 || b.players[i] >= a.limits[i] {
			return false
		}
		b.teams[i] = append(b.teams[i], t)
		b.players[i]++
		b.total++
		if !b.join(i, t) {
			return false
		}
		b.add(t)
		b.count(t, b.takers, 1)
	}
	return b.total < b.top
}

// teamOf returns the team of a name, or -1.
func (b *builder) teamOf(name string) int {
	a := b.arranged
	for i := len(a.names); i < len(a.shapes); i++ {
		number := 1
		for j := i; j > 0 && a.shapes[j-1] == a.shapes[i]; j-- {
			number++
		}
		a.names = append(a.names, b.rules.Teams[a.shapes[i]].Called(number))
	}
	return slices.Index(a.names, name)
}

// memberOf returns the player in a running game that a ticket of the pool stands for.
func (s *search) memberOf(t uint32) *Member { return s.members[int(t)-s.pool.waiting] }

// isMember reports whether a ticket stands for a player in a running game.
func (s *search) isMember(t uint32) bool { return int(t) >= s.pool.waiting }

// joinable returns the tickets nearest to a game that may join it, as far as they alone say.
func (s *search) joinable(g *openGame) (near []uint32) {
	b := s.b
	if b.forget(); s.many && !b.seat(s.mostTeams[0]) {
		return nil
	}
	var roomy []*arrangement
	s.eachArrangement(&availability{tickets: math.MaxInt, players: math.MaxInt}, func(a *arrangement) bool {
		b.forget()
		if b.seat(a) {
			roomy = append(roomy, a)
		}
		return len(roomy) < 2
	})
	if len(roomy) == 0 {
		return nil
	}
	if len(roomy) > 1 { // any of them will do
		b.arrange(roomy[0])
	} else {
		b.forget()
		b.seat(roomy[0])
	}
	b.forget()
	at := 0.0
	for _, m := range g.members {
		b.add(m)
		at += s.values[m] / float64(len(g.members))
	}
	if s.main == nil {
		at = s.earliest
	}
	wide := make([]float64, len(s.pruners))
	for i := range s.pruners {
		if wide[i] = math.Inf(1); s.pruners[i].near != nil && s.pruners[i].scope == rules.InMatch {
			wide[i] = loosestUntil(s.pruners[i].bound, s.oldest)
		}
	}
	joins := func(t uint32) bool {
		if b.pool.size(t) > b.top-len(g.members) || s.masks != nil && s.masks[t]&b.start == 0 {
			return false
		}
		for i, most := range wide {
			n := s.pruners[i].near
			if n != nil && rounding.Apart(lesser(b.low[i], n.low[t]), greater(b.high[i], n.high[t])) > most {
				return false
			}
		}
		if _, barred := slices.BinarySearch(g.Barred, t); barred {
			return false
		}
		return len(roomy) > 1 || b.room(t)
	}
	limit := min(max(few, 3*(b.top-len(g.members))+8), 400)
	all := s.walk(s.keys[g.from], at, max(8*limit, s.work/8), func(t uint32) bool {
		if joins(t) {
			near = append(near, t)
		}
		return len(near) <= limit
	})
	g.allJoinable = all && len(near) <= limit
	return near[:min(len(near), limit)]
}

// walk looks at the tickets of a key that are left, the nearest to a value first, in so many steps at most.
// It reports whether it looked at all.
func (s *search) walk(key uint32, at float64, steps int, look func(t uint32) bool) bool {
	from := sort.Search(len(s.sorted), func(i int) bool {
		t := s.sorted[i]
		return s.keys[t] > key || s.keys[t] == key && s.values[t] >= at
	})
	gap := func(place int) float64 {
		if place < 0 || place >= len(s.sorted) || s.keys[s.sorted[place]] != key {
			return math.Inf(1)
		}
		return math.Abs(s.values[s.sorted[place]] - at)
	}
	below, above := s.pass(0, from-1), s.pass(1, from)
	for range steps {
		s.work--
		down, up := gap(below), gap(above)
		place := below
		switch {
		case math.IsInf(down, 1) && math.IsInf(up, 1):
			return true
		case up < down:
			place, above = above, s.pass(1, above+1)
		default:
			below = s.pass(0, below-1)
		}
		if !look(s.sorted[place]) {
			return false
		}
	}
	return false
}

// pass goes on from a place to the first whose ticket is left, down for 0 and up for 1.
func (s *search) pass(up, place int) int {
	left := func(place int) bool { return place < 0 || place >= len(s.sorted) || !s.taken[s.sorted[place]] }
	hops := s.hops[up]
	for !left(place) {
		if next := int(hops[place]); !left(next) {
			hops[place] = hops[next] // so that none of many is looked at again
		}
		place = int(hops[place])
	}
	return place
}

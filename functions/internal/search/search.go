package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Match is a match that was found.
type Match struct {
	Teams  []Team
	Region string
	// Cost is what Prefer says, Age the age of the anchor.
	Cost, Age float64
	// Game is the number of the running game that the tickets join, -1 for a new match.
	Game int
	// Room is how many more players a new match takes, and Open has the places. They are known if the rules create
	// backfill tickets.
	Room int
	Open []Place
	// Measures are those that the function Measures names; -1 for one that nobody knows.
	Measures []float64
}

// Team is a team of a match.
type Team struct {
	Shape   int
	Tickets []uint32
	Players []int    // of each ticket, in a shape with roles or of a running game
	Roles   []string // of the players of all tickets, in their order; nil for a shape without roles
	// Members are the players of the running game that are in the team, by number, and MemberRoles their roles.
	Members     []int
	MemberRoles []string
}

const (
	// few is how many tickets are tried in all combinations.
	few = 32
	// restShare is which part of the work may be spent on that: one of so many.
	restShare = 4
	// arrangements bounds the numbers of teams that are tried for each anchor.
	arrangements = 64
)

// Search finds matches among all tickets, and tickets that join running games, if there are any; each ticket is in one
// at most. It does about so many steps of work and then returns what it has. Where at most 32 tickets are left that
// could be together, it finds a match if there is one, unless the work ends; so it does with a game that at most 32 may
// join, each by itself.
func Search(r *rules.Rules, source Source, games *Games, work int) []Match {
	p := read(r, source)
	if games == nil {
		games = &Games{}
	}
	if len(games.Running) > 0 {
		p.addMembers(games)
	}
	return p.search(games, work)
}

func (p *pool) search(games *Games, work int) []Match {
	p.findRegions(games)
	s := &search{rules: p.rules, pool: p, games: games, work: work, taken: slices.Clone(p.refused)}
	order := s.prepare()
	s.found = make([]Match, 0, len(order)/max(1, s.most))
	if len(games.Running) == 0 {
		s.matches(order)
		s.rest(order, work/restShare)
		return s.found
	}
	s.withGames(order)
	return s.found
}

// prepare compiles the rules, and returns the tickets that may be in matches. Those that are taken are in none.
func (s *search) prepare() (order []uint32) {
	for i := range s.games.Running {
		for j := range s.games.Running[i].Members {
			s.members = append(s.members, &s.games.Running[i].Members[j])
		}
	}
	s.compile()
	s.unfit = slices.Clone(s.taken[s.pool.waiting:])
	for t := s.pool.waiting; t < s.pool.tickets(); t++ {
		s.taken[t] = true // members of games wait for nothing
	}
	order = s.anchors()
	s.b = newBuilder(s)
	return order
}

// withGames finds matches and fills games, in the order that the rules say.
func (s *search) withGames(order []uint32) {
	work := s.work
	spend := func(share int, on func()) {
		s.work = share
		on()
		work -= share - s.work
	}
	kept := work / gamesShare
	all := func() {
		most := s.work / restShare
		s.matches(order)
		s.rest(order, most)
	}
	fill := func() { s.fill(order) }
	switch first := s.rules.Backfill.First; {
	case first == rules.GamesFirst:
		spend(kept, fill)
		spend(work, all)
	case first == rules.MatchesFirst || s.alwaysFull():
		spend(work-kept, all)
		spend(work, fill)
	default:
		s.full = true
		spend((work-kept)/2, func() { s.matches(order) })
		s.full = false
		spend(kept, fill)
		spend(work, all)
	}
	s.work = work
}

// alwaysFull returns whether every match is full.
func (s *search) alwaysFull() bool {
	return !slices.ContainsFunc(s.arrangements, func(a *arrangement) bool {
		places := 0
		for _, n := range a.limits {
			places += n
		}
		return a.fewest < min(places, s.most)
	})
}

// begin lines up the tickets that are left.
func (s *search) begin(order []uint32) {
	if s.sorted != nil {
		order = slices.DeleteFunc(slices.Clone(order), func(t uint32) bool { return s.taken[t] })
		clear(s.b.left)
	}
	s.align(order)
	for _, t := range order {
		s.b.count(t, s.b.left, 1)
	}
}

// matches finds new matches, anchor by anchor.
func (s *search) matches(order []uint32) {
	s.begin(order)
	for i, anchor := range order {
		if s.work <= 0 {
			break
		}
		s.anchorsLeft = len(order) - i
		if !s.taken[anchor] {
			s.around(anchor)
			s.leave(anchor) // it was tried with all that may come after it
		}
	}
}

// search is one search.
type search struct {
	rules *rules.Rules
	pool  *pool
	games *Games
	work  int
	taken []bool
	found []Match

	members []*Member // of all games, in the order of the pool
	unfit   []bool    // of each member: whether no match can have him
	full    bool      // whether only full matches are found
	rank    []uint32  // of each ticket: its place in the order of anchors
	hops    [2][]int32

	all         []rules.Rule // with All taken apart
	columns     map[string]*column
	main        *column   // of the value by which tickets are near, or nil
	values      []float64 // of main, of each ticket
	keys        []uint32  // of each ticket: those with other keys are never together
	masks       []uint64  // of each ticket: the regions that its players know; nil for rules without regions
	limits      []*reachLimit
	quick       []quick   // of each of all
	latency     []float64 // of each ticket and region: the greatest of its players
	here        []bool    // of each ticket: whether a player has latencies
	byRegion    bool      // whether preferences look at latencies
	anchorsLeft int
	guards      []guard
	roles       roleTable

	youngest, oldest float64
	// sorted is all tickets by key and value; place is where each is. line has those that are left.
	sorted []uint32
	place  []uint32
	line   line

	arrangements []*arrangement
	most         int // players of a match
	// ordered is set if it matters which team of a shape is the first.
	ordered bool
	b       *builder
}

func (s *search) column(name string) *column { return s.columns[name] }

// compile prepares what does not depend on the anchor.
func (s *search) compile() {
	s.columns = make(map[string]*column, len(s.pool.columns))
	for i := range s.pool.columns {
		s.columns[s.pool.columns[i].value.Name] = &s.pool.columns[i]
	}
	var take func(rule rules.Rule)
	take = func(rule rules.Rule) {
		if all, ok := rule.Need.(*rules.All); ok {
			for _, c := range all.Of {
				take(rules.Rule{Name: rule.Name, Active: rule.Active, Need: c})
			}
			return
		}
		s.all = append(s.all, rule)
	}
	for _, rule := range s.rules.Rules {
		take(rule)
	}
	s.ordered = rules.Ordered(s.rules)
	s.byRegion = slices.ContainsFunc(s.rules.Prefer, aboutLatency)
	s.youngest = math.Inf(1)
	for _, age := range s.pool.age[:s.pool.waiting] {
		s.youngest, s.oldest = math.Min(s.youngest, age), math.Max(s.oldest, age)
	}
	s.findGuards()
	s.findMain()
	s.findReach()
	s.findRoles()
	s.arrange()
}

// around tries to make a match of an anchor and the tickets that are nearest to it.
func (s *search) around(anchor uint32) {
	if !s.rolesLeft() {
		return
	}
	if len(s.roles.names) == 0 && len(s.rules.Prefer) == 0 && s.nearest(anchor, s.most+1) {
		return // as most do where many wait
	}
	limit := 3*s.most + 8
	if limit > 400 {
		limit = max(400, s.most+s.most/4)
	}
	s.nearest(anchor, limit)
}

// nearest tries an anchor with so many tickets.
func (s *search) nearest(anchor uint32, limit int) bool {
	near := s.near(anchor, limit)
	s.b.look(near, true)
	return s.try(anchor, max(40+2*len(near), min(200+12*len(near), s.work/(8*s.anchorsLeft))))
}

// try makes a match of an anchor and the candidates, if it can.
func (s *search) try(anchor uint32, steps int) bool {
	b := s.b
	b.begin(anchor)
	for _, a := range s.arrangements {
		if !b.enough(a) {
			continue
		}
		b.arrange(a)
		b.steps, b.used = steps, 0
		if b.grow() {
			s.keep()
			for _, team := range b.match.Teams {
				for _, t := range team.Tickets {
					if t != anchor {
						s.leave(t)
					}
				}
			}
			return true
		}
		if steps -= b.used; steps <= 0 {
			break
		}
	}
	return false
}

// keep keeps the match that was built, and takes its tickets.
func (s *search) keep() {
	s.found = append(s.found, s.b.match)
	for _, team := range s.b.match.Teams {
		for _, t := range team.Tickets {
			s.taken[t] = true
		}
	}
}

// leave takes a ticket out of those that are left.
func (s *search) leave(t uint32) {
	s.line.remove(s.place[t])
	s.b.count(t, s.b.left, -1)
}

// rolesLeft returns whether there are players left for the roles of a match.
func (s *search) rolesLeft() bool {
	for _, a := range s.arrangements {
		enough := true
		for i, n := range a.needs {
			enough = enough && s.b.left[i] >= n
		}
		if enough {
			return true
		}
	}
	return false
}

// rest tries all combinations of what is left, in groups that could be together, if they are small, with at most so
// much of the work.
func (s *search) rest(order []uint32, most int) {
	kept := s.work - min(s.work, most)
	s.work, s.anchorsLeft = s.work-kept, few
	defer func() { s.work += kept }()
	groups := map[uint32][]uint32{}
	var keys []uint32
	for _, t := range order {
		if !s.taken[t] {
			if groups[s.keys[t]] == nil {
				keys = append(keys, s.keys[t])
			}
			groups[s.keys[t]] = append(groups[s.keys[t]], t)
		}
	}
	for _, key := range keys {
		group := groups[key]
		if len(group) > few {
			continue
		}
		for i, anchor := range group {
			if s.work <= 0 {
				return
			}
			if s.taken[anchor] {
				continue
			}
			s.b.begin(anchor)
			s.b.distant = s.b.far()
			s.b.look(slices.DeleteFunc(slices.Clone(group[i+1:]), func(t uint32) bool { return s.taken[t] }), false)
			s.try(anchor, s.work)
		}
	}
}

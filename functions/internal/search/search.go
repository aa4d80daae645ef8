package search

import (
	"math"
	"slices"

	"matchmaker.dev/functions/internal/patience"
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
	// Measures has a value for each name that the function Measures returns; -1 if it is unknown.
	Measures []float64
	// More is nil where the rules ask for nothing of it: there are very many matches, and most have none.
	More *More
}

// More is what few rule sets ask for.
type More struct {
	// Room is how many more players a new match takes, and Open has the places. They are known if the rules create
	// backfill tickets.
	Room int
	Open []Place
	// Common is what all of its players have in common, of each value that the function Common names: the first 16
	// elements. Players of the running game count, as far as they are known.
	Common [][]string
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
	// restShare is which part of the work may be spent on that before what is left at last: one of so many.
	restShare = 4
	// tryShare is which part of the work one anchor may take: one of so many.
	tryShare = 2
	// mostSweeps bounds how often tickets that are left are looked at again after matches were found.
	mostSweeps = 100
)

// search is one run.
func (s *search) search(games *Games, work int) []Match {
	p := s.pool
	if len(games.Running) > 0 {
		p.addMembers(games)
	}
	p.findRegions(games)
	order := s.prepare(games, slices.Clone(p.refused))
	s.work, s.budget = work, work
	s.found = nil
	if s.pairs != nil {
		s.found = make([]Match, 0, len(order)/2)
	}
	if s.running = s.openGames(); len(s.running) == 0 {
		s.matches(order)
	} else {
		s.withGames(order)
	}
	s.tryRemaining(order)
	s.settle(order)
	s.cut(p.waiting)
	p.cut(p.waiting)
	return s.found
}

// prepare begins a run, and returns the tickets that may be in matches. Unfit tickets, which it keeps, are in
// none.
func (s *search) prepare(games *Games, unfit []bool) (order []uint32) {
	s.games, s.taken, s.members, s.sorted = games, unfit, nil, nil
	for i := range games.Running {
		for j := range games.Running[i].Members {
			s.members = append(s.members, &games.Running[i].Members[j])
		}
	}
	s.extend()
	most := together(s.rules)
	for t := range s.taken {
		s.taken[t] = s.taken[t] || s.torn[t] || s.pool.gone[t] || s.pool.size(uint32(t)) > most
	}
	for t, unsuited := range s.roles.unsuited {
		s.taken[t] = s.taken[t] || unsuited
	}
	for _, of := range s.singleTicketFilters {
		for t, never := range of.never {
			s.taken[t] = s.taken[t] || never
		}
	}
	s.overloaded()
	s.unfit = slices.Clone(s.taken[s.pool.waiting:])
	for t := s.pool.waiting; t < s.pool.tickets(); t++ {
		s.taken[t] = true // members of games wait for nothing
	}
	s.oldest, s.earliest = 0, math.Inf(1)
	for t, age := range s.pool.age[:s.pool.waiting] {
		if !s.pool.gone[t] {
			s.oldest, s.earliest = math.Max(s.oldest, age), math.Min(s.earliest, s.pool.created[t])
		}
	}
	for _, l := range s.limits {
		l.levels, l.level = map[[2]float64][]uint64{}, nil
	}
	s.b = newBuilder(s)
	return s.anchors()
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
	all := func() { s.matches(order) }
	fill := func() { s.fill(order) }
	switch first := s.rules.Backfill.First; {
	case first == rules.GamesFirst:
		spend(kept, fill)
		spend(work, all)
	case first == rules.MatchesFirst || s.alwaysFull():
		spend(work-kept, all)
		spend(work/2, fill)
		spend(work, all) // the players that joined may have been in the way
	default:
		s.full = true
		s.countWaiting()
		first, eighths := s.effort(order)
		spend((work-kept)/2, func() { s.sweep(order, first, eighths, math.Inf(1)) })
		s.full = false
		spend(kept, fill)
		spend(work, all)
	}
	s.work = work
}

// alwaysFull reports whether every match is full.
func (s *search) alwaysFull() bool {
	if s.many {
		return !slices.ContainsFunc(s.shapes, func(of shape) bool { return of.most > 0 && of.players < of.places })
	}
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
	s.ready(order)
	s.link()
}

// ready sorts all tickets, if they are not yet, and counts the ones that are left.
func (s *search) ready(order []uint32) {
	if len(s.sorted) == 0 {
		s.sortTickets(order)
	}
	clear(s.b.left)
	for _, t := range order {
		if !s.taken[t] {
			s.b.count(t, s.b.left, 1)
		}
	}
}

// effort is how hard anchors are tried at first, and which part of the work that may take.
func (s *search) effort(order []uint32) (m mode, eighths int) {
	if len(order)*manySteps > s.budget {
		return quickly, quickShare
	}
	return thoroughly, thoroughShare
}

// manySteps is about how many steps an anchor takes that is tried thoroughly.
const manySteps = 8000

// matches finds new matches: first quickly, then thoroughly, then in all combinations, until nothing more is found. So
// nothing is found either when the ones that are left come alone.
func (s *search) matches(order []uint32) {
	first, eighths := s.effort(order)
	for range mostSweeps {
		s.countWaiting()
		var all bool
		found, done := s.sweep(order, first, eighths, math.Inf(1))
		if !found && first == quickly {
			found, _ = s.sweep(order, thoroughly, lateShare, math.Inf(1))
		}
		if !found {
			s.anchorsLeft = few
			found, all = s.shareWork(s.matchCombinations(order), s.budget/restShare)
			s.short = !all
		}
		if !found && !done && s.work > 0 {
			found, _ = s.sweep(order, first, lateShare, s.turn())
		}
		if s.short = s.short || s.work <= 0; !found || s.work <= 0 {
			return
		}
		order = slices.DeleteFunc(slices.Clone(order), func(t uint32) bool { return s.taken[t] })
	}
}

// turn is an age in seconds, of 1 to 4096, which is another one in each run: anchors must not wait for ever for older
// ones that take much work and find nothing. It depends on the time alone, so that a run can be repeated.
func (s *search) turn() float64 {
	return float64(uint64(1) << ((uint64(s.now) * 0x9e3779b97f4a7c15 >> 40) % 13))
}

// sweep tries anchor by anchor, of an age in seconds at most. It ends when the anchors without a match took so many
// eighths of the work, and returns whether it tried all.
func (s *search) sweep(order []uint32, m mode, eighths int, most float64) (found, all bool) {
	s.ready(order)
	s.linked = false // not before one has to be tried
	left := s.budget / 8 * eighths
	for i, anchor := range order {
		if s.work <= 0 || left <= 0 {
			return found, false
		}
		if s.taken[anchor] {
			continue
		}
		if s.anchorsLeft = len(order) - i; s.pool.age[anchor] <= most && s.rolesLeft() {
			ok, cost := s.attempt(m, anchor, s.budget/tryShare, func() bool {
				if !s.linked {
					s.linkAfter(order[:i])
				}
				return s.around(anchor, m)
			})
			if ok {
				found = true
			} else {
				left -= cost
			}
		}
		s.leave(anchor) // it was tried with all that may come after it
	}
	return found, true
}

// linkAfter links the tickets that are left, without former anchors.
func (s *search) linkAfter(before []uint32) {
	s.link()
	for _, t := range before {
		if !s.taken[t] {
			s.neighbors.remove(s.place[t])
		}
	}
}

// search searches a pool, again and again if it changes.
type search struct {
	compiled
	view
	memory
	games *Games
	// running are the games that may be filled, the oldest first.
	running []*openGame
	// work is what is left of a run's work, budget what there was.
	work, budget int
	found        []Match
	// short is set if the work was too little to try all combinations.
	short       bool
	full        bool // whether only full matches are found
	anchorsLeft int
	// crowd says how near matches must be; nil if they need not. parts is what it said of each ticket, 0 if it was not
	// asked. hasty is set if what it says does not count.
	crowd *patience.Crowd
	parts []float64
	hasty bool
	b     *builder
}

// compiled is what the rules say, in the form in which a search looks at it. It has parts of its own that grow with the
// pool.
type compiled struct {
	rules               *rules.Rules
	all                 []rule      // with All taken apart
	fastChecks          []fastCheck // of each of all
	pruners             []pruner
	measured            []measured
	common              common
	columns             map[string]*column
	main                *column // of the value by which tickets are near, or nil
	keyed               []*keyed
	spans               []*spans
	totals              []*total
	singleTicketFilters []*singleTicketFilter
	balances            []balance
	evenness            []*evenness // of each of all; nil for others
	limits              []*reachLimit
	tables              []*latencies
	roles               roleTable
	byRole              bool // whether players say how reluctantly they take roles
	late                bool // whether preferences look at latencies or at given roles, which are known at last
	byParty             bool // whether they compare parties
	// arrangements are all numbers of teams; nil where they are many. Then fewestTeams and mostTeams have the ends alone.
	arrangements           []*arrangement
	many                   bool
	fewestTeams, mostTeams []*arrangement
	// shapes are the shapes of the teams; leanest and widest the fewest and the most teams of the shapes from each on.
	shapes          []shape
	leanest, widest []teamNeeds
	pairs           *pairSearch
	most            int // players of a match
	// ordered is set if it matters which team of a shape is the first.
	ordered bool
}

// view is the tickets of a run, as the rules look at them.
type view struct {
	pool     *pool
	taken    []bool
	members  []*Member // of all games, in the order of the pool
	unfit    []bool    // of each member: whether no match can have him
	rank     []uint32  // of each ticket: its place in the order of anchors
	hops     [2][]int32
	values   []float64 // of main, of each ticket
	keys     []uint32  // of each ticket: tickets with other keys are never together
	torn     []bool    // of each ticket: whether no match can have all of its players
	masks    []uint64  // of each ticket: the regions that its players know; nil for rules without regions
	regions  []uint32  // that the masks are of
	regionOf []uint8   // of each name: the number of the region, from 1; 0 for none
	here     []bool    // of each ticket: whether a player has latencies
	// oldest is the greatest age, earliest when that ticket was created.
	oldest, earliest float64
	// sorted is all tickets of a run by key and value; place is where each is. line has the tickets that are left. groups
	// are the first and the last place of each key.
	sorted    []uint32
	place     []uint32
	neighbors neighbors
	linked    bool // whether the line is
	groups    [][2]int32
}

func (s *search) column(name string) *column { return s.columns[name] }

// newSearch prepares what depends on the rules alone.
func newSearch(r *rules.Rules, p *pool) *search {
	s := &search{view: view{pool: p},
		compiled: compiled{rules: r, columns: make(map[string]*column, len(p.columns))}}
	s.run = firstRun
	for i := range p.columns {
		s.columns[p.columns[i].value.Name] = &p.columns[i]
	}
	var take func(one rules.Rule)
	take = func(one rules.Rule) {
		if all, ok := one.Need.(*rules.All); ok {
			for _, c := range all.Of {
				take(rules.Rule{Name: one.Name, Active: one.Active, Need: c})
			}
			return
		}
		s.all = append(s.all, rule{one, conditionOf(one.Need)})
	}
	for _, rule := range r.Rules {
		take(rule)
	}
	s.measured = measures(r)
	s.ordered = rules.Ordered(r)
	s.late, s.byParty = slices.ContainsFunc(r.Prefer, isLate), slices.ContainsFunc(r.Prefer, aboutParties)
	s.findPruners()
	s.findTotals()
	s.findSingleTicketFilters()
	s.findBalances()
	for _, name := range Common(r) {
		s.common.columns = append(s.common.columns, s.column(name))
	}
	s.findEvenness()
	s.findMain()
	s.findReach()
	s.findRoles()
	s.byRole = s.roles.column != nil && s.roles.column.value.Kind == rules.Map
	s.arrange()
	s.findAmple()
	s.findPairSearch()
	return s
}

// extend computes what is known of each ticket that is new.
func (s *search) extend() {
	s.extendKeys()
	for _, of := range s.spans {
		of.extend(s.pool)
	}
	for _, of := range s.totals {
		of.extend(s.pool)
	}
	for _, of := range s.singleTicketFilters {
		of.extend(s.pool)
	}
	s.extendEvenness()
	s.extendValues()
	s.extendReach()
	s.extendRoles()
}

// cut takes the tickets from one on away.
func (s *search) cut(tickets int) {
	s.keys, s.torn, s.values = s.keys[:tickets], s.torn[:tickets], s.values[:tickets]
	for _, of := range s.spans {
		of.low, of.high = of.low[:tickets], of.high[:tickets]
	}
	for _, of := range s.totals {
		of.adds = of.adds[:tickets]
	}
	for _, of := range s.singleTicketFilters {
		of.never = of.never[:tickets]
	}
	for _, of := range s.evenness {
		if of != nil {
			of.of = of.of[:tickets]
		}
	}
	s.cutReach(tickets)
	s.roles.cut(tickets, s.pool.first[tickets])
}

// around tries to make a match of an anchor and the tickets that are nearest to it.
func (s *search) around(anchor uint32, m mode) bool {
	if s.pairs != nil {
		if found, sure := s.matchPair(anchor); sure {
			return found
		}
	}
	if len(s.roles.names) == 0 && len(s.rules.Prefer) == 0 && s.nearest(anchor, s.most+1, m) {
		return true // as most do where many wait
	}
	limit := 3*s.most + 8
	if m == quickly {
		limit = 2*s.most + 4
	}
	if limit > 400 {
		limit = max(400, s.most+s.most/4)
	}
	return s.nearest(anchor, limit, m)
}

// nearest tries an anchor with so many tickets.
func (s *search) nearest(anchor uint32, limit int, m mode) bool {
	if m != quickly {
		found := s.buildOf(anchor, s.near(anchor, limit, nil))
		if found {
			s.rebuild(anchor, limit)
			s.keepOf(anchor)
		}
		return found
	}
	near := s.near(anchor, limit, s.roles.amply)
	if len(s.rules.Order) == 0 {
		s.largestFirst(near)
	}
	s.b.setCandidates(near, true)
	return s.try(anchor, 40+2*len(near))
}

// buildOf builds a match of an anchor and tickets that near found.
func (s *search) buildOf(anchor uint32, near []uint32) bool {
	s.b.setCandidates(near, true)
	return s.build(anchor, 200+12*len(near))
}

// largestFirst puts parties first: the others find room beside them. Tickets of as many players stay in their order.
func (s *search) largestFirst(tickets []uint32) {
	for i, t := range tickets {
		size, at := s.pool.size(t), i
		for ; at > 0 && s.pool.size(tickets[at-1]) < size; at-- {
			tickets[at] = tickets[at-1]
		}
		tickets[at] = t
	}
}

// try makes a match of an anchor and the candidates, if it can.
func (s *search) try(anchor uint32, steps int) bool {
	found := s.build(anchor, steps)
	if found {
		s.keepOf(anchor)
	}
	return found
}

// build builds a match of an anchor and the candidates.
func (s *search) build(anchor uint32, steps int) bool {
	b := s.b
	b.begin(anchor)
	begin := func(a *arrangement) bool {
		if !b.enough(a) {
			return false
		}
		b.arrange(a)
		return true
	}
	if steps == math.MaxInt {
		b.repairs = mostRepairs
		return b.tryAllFully(b.availableFor(anchor), begin, b.grow)
	}
	return b.tryArrangements(b.availableFor(anchor), steps, begin, b.grow)
}

// keep keeps the match that was built, and takes its tickets.
func (s *search) keep() {
	s.found = append(s.found, s.b.match)
	for _, team := range s.b.match.Teams {
		for _, t := range team.Tickets {
			s.take(t)
		}
	}
}

// keepOf keeps the match that was built of an anchor. The caller removes the anchor from the tickets that are left.
func (s *search) keepOf(anchor uint32) {
	s.keep()
	for _, team := range s.b.match.Teams {
		for _, t := range team.Tickets {
			if t != anchor {
				s.leave(t)
			}
		}
	}
}

// leave takes a ticket out of the ones that are left.
func (s *search) leave(t uint32) {
	if s.linked {
		s.neighbors.remove(s.place[t])
	}
	s.b.count(t, s.b.left, -1)
}

// rolesLeft reports whether there are players left for the roles of a match.
func (s *search) rolesLeft() bool {
	for _, a := range s.fewestTeams {
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

// combine tries all combinations of an anchor and the tickets that are left of some and may be in a match with it.
func (s *search) combine(anchor uint32, others []uint32) bool {
	b := s.b
	if b.pair(anchor); b.narrow < 1 {
		return false // it can wait
	}
	b.distant = b.far()
	s.work -= len(others)
	unfit := func(t uint32) bool { return s.taken[t] || !b.compatible(t) }
	b.setCandidates(slices.DeleteFunc(slices.Clone(others), unfit), true)
	return s.try(anchor, math.MaxInt)
}

// smallGroups returns what is left of the groups of tickets that could be together, of the small ones.
func (s *search) smallGroups(order []uint32) (groups [][]uint32) {
	sizes := s.sizes(order)
	at := make([]uint32, len(s.groups)) // of each key: its group, from 1
	for _, t := range order {
		key := s.keys[t]
		if s.taken[t] || sizes[key] > few {
			continue
		}
		if at[key] == 0 {
			groups = append(groups, make([]uint32, 0, sizes[key]))
			at[key] = uint32(len(groups))
		}
		group := &groups[at[key]-1]
		*group = append(*group, t)
	}
	return groups
}

// sizes returns how many tickets are left of each group that could be together.
func (s *search) sizes(order []uint32) []uint32 {
	sizes := make([]uint32, len(s.groups))
	for _, t := range order {
		if !s.taken[t] {
			sizes[s.keys[t]]++
		}
	}
	return sizes
}

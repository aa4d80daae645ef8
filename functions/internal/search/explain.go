package search

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Reason is why a ticket is in no match.
type Reason struct {
	Ticket uint32
	Kind   Kind
	// Name is that of the rule or of the value.
	Name string
	// Candidates is how many other tickets fit with it one by one, if it were not for the rule.
	Candidates int
	// Match is a match that there would be with the ticket if it were not for the rule, Join a running game that it would
	// join. They are nil if none was found; a reason has one of them at most.
	Match, Join *Match
	Of          rules.Kind
	// Players are those of a ticket that is too large; of too few, how many more are needed at least.
	Players int
	// Soon is within how many seconds a nearer match is expected, for a ticket that waits.
	Soon float64
}

// Kind is a kind of reason.
type Kind int

const (
	// RuleStops is a rule without which more tickets would fit, or a match or a game would be found. Roles have the name
	// roles, what the rules say of running games the names backfill.open and backfill.active.
	RuleStops Kind = iota
	// ValueMissing is a value that a player lacks.
	ValueMissing
	// OtherKind is a value that a player lacks, since what is said of it is of another kind. Of says of which it must be.
	OtherKind
	// Unreadable is a ticket whose players cannot be read.
	Unreadable
	// NoneAlone says that no rule alone keeps the ticket from a match or a game. Candidates are with all rules.
	NoneAlone
	// TooMuch says that a player of the ticket has a set or a map with more than MaxElements.
	TooMuch
	// Waits says that there is a match, and that the ticket waits for a nearer one.
	Waits
	// WorkEnded says that there is a match or a game, but the search ended before it.
	WorkEnded
	// Widens says that there is a match, or that a game takes the ticket, once bounds are as wide as they get with the
	// time. The name is size, copies or players.
	Widens
	// TooLarge is a ticket of more players than any team takes, or any match. The name says which: team or match.
	TooLarge
	// TooFew says that there are too few players for any match, whatever the rules. Candidates are with all rules.
	TooFew
)

const (
	// mostReasons is how many reasons a ticket has.
	mostReasons = 16
	// olderAnchors is how many older tickets are tried as the anchor of a match with a ticket.
	olderAnchors = 16
	// mostGames is how many running games are tried, the oldest first.
	mostGames = 64
)

// Explain says of tickets why they are in none of the matches that were found, and join none of the running games that
// got nobody. It leaves out one rule after the other, looks how many tickets fit with each one by one, and tries
// whether there is a match or a game. It does about so many steps of work: what it cannot say with that it leaves out.
func Explain(
	r *rules.Rules, source Source, games *Games, found []Match, asked []uint32, work int,
) (reasons []Reason) {
	p := read(r, source)
	if games == nil {
		games = &Games{}
	}
	if len(games.Running) > 0 {
		p.addMembers(games)
	}
	p.findRegions(games)
	e := &explainer{
		pool: p, games: games, filled: make([]bool, len(games.Running)), taken: make([]bool, p.tickets()), work: work,
	}
	for _, m := range found {
		if m.Game >= 0 {
			e.filled[m.Game] = true
		}
		for _, team := range m.Teams {
			for _, t := range team.Tickets {
				e.taken[t] = true
			}
		}
	}
	var open []uint32
	for _, t := range asked {
		if p.refused[t] {
			reasons = append(reasons, p.refusals(source, t)...)
		} else if e.taken[t] {
			continue
		} else if reason, large := tooLarge(r, t, p.size(t)); large {
			reasons = append(reasons, reason)
		} else {
			open = append(open, t)
		}
	}
	if len(open) == 0 {
		return reasons
	}
	all := variants(r, len(games.Running) > 0)
	verdicts := make([][]verdict, len(all))
	for i := range all {
		verdicts[i] = e.look(&all[i], open, e.work/(len(all)-i))
	}
	for i, t := range open {
		of := func(variant int) verdict { return verdicts[variant][i] }
		reasons = append(reasons, reasonsOf(t, all, len(games.Running) > 0, of)...)
	}
	return reasons
}

// refusals are why no match can ever have a ticket.
func (p *pool) refusals(source Source, t uint32) (reasons []Reason) {
	switch p.unread[t] {
	case noList:
		return []Reason{{Ticket: t, Kind: Unreadable}}
	case large:
		return []Reason{{Ticket: t, Kind: TooMuch}}
	}
	for i := range p.columns {
		if c := &p.columns[i]; c.must && p.lacks(c, t) {
			reason := Reason{Ticket: t, Kind: ValueMissing, Name: c.value.Name}
			if isOfOtherKind(source, t, c.value) {
				reason.Kind, reason.Of = OtherKind, c.value.Kind
			}
			reasons = append(reasons, reason)
		}
	}
	return reasons[:min(len(reasons), mostReasons)]
}

// lacks returns whether a player of a ticket lacks a value.
func (p *pool) lacks(c *column, t uint32) bool {
	for player := p.first[t]; player < p.first[t+1]; player++ {
		if c.missing(player) {
			return true
		}
	}
	return false
}

// verdict is what was found out of a ticket with a variant of the rules.
type verdict struct {
	known      bool
	lacking    int // how many players there are too few, whatever the rules
	candidates int
	match      *Match
	soon       float64 // within which time a nearer match is expected, 0 if the search does not wait for one
	join       *Match
}

// reasonsOf are the reasons of a ticket: those first without which there is a match or a game.
func reasonsOf(t uint32, all []variant, games bool, of func(variant int) verdict) (reasons []Reason) {
	whole := of(0)
	if !whole.known {
		return nil
	}
	if whole.match != nil && whole.soon > 0 {
		return []Reason{{
			Ticket: t, Kind: Waits, Candidates: whole.candidates, Match: whole.match, Soon: whole.soon,
		}}
	}
	if whole.match != nil {
		return []Reason{{Ticket: t, Kind: WorkEnded, Candidates: whole.candidates, Match: whole.match}}
	}
	if whole.join != nil {
		return []Reason{{Ticket: t, Kind: WorkEnded, Candidates: -1, Join: whole.join}}
	}
	alone := false
	for i := 1; i < len(all); i++ {
		v := of(i)
		if !v.known {
			continue
		}
		alone = alone || v.match != nil || v.join != nil
		if v.match != nil || all[i].kind == RuleStops && v.candidates > whole.candidates {
			reasons = append(reasons, Reason{
				Ticket: t, Kind: all[i].kind, Name: all[i].name, Candidates: v.candidates, Match: v.match,
			})
		}
		if v.join != nil {
			reasons = append(reasons, Reason{Ticket: t, Kind: all[i].kind, Name: all[i].name, Candidates: -1, Join: v.join})
		}
	}
	slices.SortStableFunc(reasons, func(a, b Reason) int {
		if first := a.Match != nil || a.Join != nil; first != (b.Match != nil || b.Join != nil) {
			if first {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Candidates, a.Candidates)
	})
	if !alone && whole.lacking > 0 {
		reasons = slices.Insert(reasons, 0, Reason{
			Ticket: t, Kind: TooFew, Candidates: whole.candidates, Players: whole.lacking,
		})
	}
	if !alone && (whole.lacking == 0 || games) {
		reasons = slices.Insert(reasons, 0, Reason{Ticket: t, Kind: NoneAlone, Candidates: whole.candidates})
	}
	return reasons[:min(len(reasons), mostReasons)]
}

// explainer finds reasons. Tickets of matches are taken.
type explainer struct {
	pool   *pool
	games  *Games
	filled []bool // of each game: whether it got somebody
	taken  []bool
	work   int
}

// unfit is the tickets that can be in no match with a variant of the rules: those of others, and those without a value
// that these rules need.
func (e *explainer) unfit(r *rules.Rules) []bool {
	p, unfit, used := e.pool, slices.Clone(e.taken), rules.Used(r)
	for t := range unfit {
		if !p.refused[t] || unfit[t] {
			continue
		}
		unfit[t] = p.unread[t] != isRead
		for i := range p.columns {
			c := &p.columns[i]
			if t >= p.waiting && p.hides(c.value.Name) {
				continue
			}
			unfit[t] = unfit[t] || used[c.value.Name] && c.value.Missing == rules.Reject && p.lacks(c, uint32(t))
		}
	}
	return unfit
}

// look looks at tickets with a variant of the rules, with at most so much of the work.
func (e *explainer) look(v *variant, tickets []uint32, share int) []verdict {
	verdicts := make([]verdict, len(tickets))
	e.work -= share
	share -= len(e.taken) / 4 // to compile
	if share > 0 {
		r := &v.rules
		s := newSearch(r, e.pool)
		s.work, s.anchorsLeft, s.hasty = share, few, true
		x := &examiner{search: s, order: s.prepare(e.games, e.unfit(r)), joinsOnly: v.joins}
		s.watch()
		s.begin(x.order)
		if len(e.games.Running) > 0 {
			s.rankAll(x.order)
			x.open = slices.DeleteFunc(s.openGames(), func(g *openGame) bool { return e.filled[g.number] })
			x.open = x.open[:min(mostGames, len(x.open))]
		}
		x.rank = make([]int, len(e.taken))
		for i := range x.rank {
			x.rank[i] = -1
		}
		x.lacking = s.fewestPlayers()
		for i, t := range x.order {
			x.rank[t] = i
			x.lacking -= e.pool.size(t)
		}
		for i, t := range tickets {
			verdicts[i] = x.examine(t)
		}
		share = s.work
	}
	e.work += max(0, share)
	return verdicts
}

// examiner looks at single tickets.
type examiner struct {
	*search
	order     []uint32 // of anchors
	rank      []int    // of each ticket in order, -1 for those that may be in no match
	open      []*openGame
	joinsOnly bool // whether only games are looked at
	lacking   int  // how many players there are too few for any match
}

// examine looks for tickets that fit with one, for a match of them, and for a running game that it may join.
func (x *examiner) examine(t uint32) (v verdict) {
	if x.rank[t] < 0 {
		return verdict{known: true}
	}
	if v.known = true; !x.joinsOnly {
		v = x.examineMatches(t)
	}
	if v.known {
		v.join = x.joinOf(t)
	}
	return v
}

func (x *examiner) examineMatches(t uint32) verdict {
	at := x.rank[t]
	older := x.fitting(t, x.order[:at], func(o uint32) bool {
		x.b.pair(o)
		return x.b.beside(t)
	})
	x.b.pair(t)
	younger := x.fitting(t, x.order[at+1:], x.b.beside)
	if x.work <= 0 {
		return verdict{}
	}
	v := verdict{known: true, candidates: len(older) + len(younger), lacking: max(0, x.lacking)}
	x.work -= 4 * v.candidates // to sort
	nearest := func(a, b uint32) int {
		return cmp.Or(cmp.Compare(x.distance(t, a), x.distance(t, b)), cmp.Compare(x.rank[a], x.rank[b]))
	}
	slices.SortFunc(older, nearest)
	slices.SortFunc(younger, nearest)
	limit := min(3*x.most+8, 400)
	if v.match = x.matchOf(t, nil, slices.Clone(younger[:min(limit, len(younger))])); v.match != nil {
		v.soon = x.soon(v.match)
		return v
	}
	for _, anchor := range older[:min(olderAnchors, len(older))] {
		// Of these, not all fit with the ticket: matchOf looks.
		near := slices.DeleteFunc(slices.Clone(x.near(anchor, limit, nil)), func(o uint32) bool {
			return o == t || x.rank[o] < x.rank[anchor]
		})
		if v.match = x.matchOf(anchor, []uint32{t}, near); v.match != nil || x.work <= 0 {
			break
		}
	}
	v.soon = x.soon(v.match)
	return v
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
		if x.keys[o] == x.keys[t] && x.pool.size(o)+x.pool.size(t) <= x.most && fits(o) {
			all = append(all, o)
		}
	}
	return all
}

func (x *examiner) distance(a, b uint32) float64 { return math.Abs(x.values[a] - x.values[b]) }

// matchOf makes a match of an anchor, tickets that must be in it, and candidates; nil if it finds none.
func (x *examiner) matchOf(anchor uint32, must, candidates []uint32) *Match {
	b := x.b
	b.begin(anchor)
	b.distant = b.far()
	x.inOrder(anchor, candidates)
	b.look(candidates, false)
	if x.masks != nil {
		for _, t := range must {
			b.reached[t] = b.reach(t)
		}
	}
	defer func() { b.must = nil }()
	steps := x.work / 4
	if len(candidates) > few {
		steps = min(steps, 200+12*len(candidates))
	}
	c := b.supplyOf(anchor)
	for _, t := range must {
		c.tickets, c.players = c.tickets+1, min(c.players+b.pool.size(t), x.most)
	}
	if !b.inLineups(c, steps, func(a *arrangement) bool {
		b.begin(anchor)
		b.arrange(a)
		b.must = must
		return true
	}, func() bool { return b.place(anchor, -len(must)) }) {
		return nil
	}
	m := b.match
	return &m
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
	near := slices.Clone(x.beside(g))
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
	steps := x.work / 4
	if len(candidates) > few {
		steps = min(steps, 200+12*len(candidates))
	}
	if !x.join(anchor, candidates, steps) {
		return nil
	}
	m := x.b.match
	return &m
}

package rulestest

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Any returns a match of a pool that the rules allow, if there is one. It tries all: every number of teams, every
// ticket in every team or in none, every region. It goes on from a part of a match only if what is there may be a part
// of one.
func Any(r *rules.Rules, pool []Ticket) (Match, bool) {
	m, found, _ := Find(r, pool, math.MaxInt)
	return m, found
}

// Find is Any for as many parts of matches as most. Told is whether it could say.
func Find(r *rules.Rules, pool []Ticket, most int) (m Match, found, told bool) {
	return newTrial(r, pool, nil).find(most)
}

func (t *trial) find(most int) (m Match, found, told bool) {
	t.left = most
	found = t.copies(0)
	return t.match, found, found || t.left > 0
}

// Plain is Any without any shortcut. It takes time in proportion to (teams + 1) to the power of tickets.
func Plain(r *rules.Rules, pool []Ticket) (Match, bool) {
	t := newTrial(r, pool, nil)
	t.left, t.closed, t.alike = math.MaxInt, nil, false
	return t.match, t.copies(0)
}

// trial is the search of Any.
type trial struct {
	*game         // whose match is not looked at
	order   []int // tickets as they are placed, the members of a game first
	regions []string
	// closed are the conditions that a part of a match violates only if the match does.
	closed  []rules.Condition
	alike   bool // whether the teams of a shape may change places
	left    int  // parts to try
	teams   []Team
	players []int // of each team
	match   Match
}

// newTrial makes the search of a pool for a new match, or for tickets that join a game.
func newTrial(r *rules.Rules, pool []Ticket, running *Running) *trial {
	t := &trial{game: newGame(r, pool, running, Match{}), regions: []string{""}, alike: !rules.Ordered(r)}
	t.youngest, t.oldest = math.Inf(1), math.Inf(-1)
	t.orderTickets()
	for i, ticket := range pool {
		t.youngest, t.oldest = min(t.youngest, ticket.Age), max(t.oldest, ticket.Age)
		if r.RegionValue == "" {
			continue
		}
		for _, has := range t.values.of(r.RegionValue, i) {
			m, _ := has.(map[string]float64)
			for name := range m {
				if r.MayBeIn(name) {
					t.regions = append(t.regions, name)
				}
			}
		}
	}
	slices.Sort(t.regions)
	t.regions = slices.Compact(t.regions)
	if running != nil && r.RegionValue != "" {
		t.regions = []string{running.Region}
	}
	for _, rule := range r.Rules {
		if rule.Active == nil && closed(rule.Need) {
			t.closed = append(t.closed, rule.Need)
		}
	}
	return t
}

// closed reports whether a part of a match violates a condition only if the match does, with the loosest bounds. A
// condition beside the anchor is not: a later ticket may be the anchor.
func closed(c rules.Condition) bool {
	scope := rules.Scope{}
	switch c := c.(type) {
	case *rules.Same:
		scope = c.Scope
	case *rules.Spread:
		scope = c.Scope
	case *rules.Share:
		scope = c.Scope
	case *rules.Avoid:
	case *rules.Latency:
		return c.Apart == nil
	case *rules.Holders:
		return c.Count.Min == nil
	case *rules.Overlap:
		return c.Other == "" || c.Merge == rules.Union && c.Count.Min == nil
	case *rules.All:
		return !slices.ContainsFunc(c.Of, func(c rules.Condition) bool { return !closed(c) })
	case *rules.AnyOf:
		return !slices.ContainsFunc(c.Of, func(c rules.Condition) bool { return !closed(c) })
	default:
		return false
	}
	return scope.Of != rules.BesideAnchor
}

// greatest is the greatest that a bound can ever be.
func greatest(b *rules.Bound) int {
	_, n, off := b.Over(0, math.Inf(1))
	if off || n > rules.MaxPlayers {
		return rules.MaxPlayers
	}
	return int(n)
}

// copies tries all numbers of teams of the shapes from one on.
func (t *trial) copies(shape int) bool {
	if shape == len(t.rules.Teams) {
		return t.place(0)
	}
	before := len(t.teams)
	defer func() { t.teams, t.players = t.teams[:before], t.players[:before] }()
	// Teams without tickets are allowed where their size may be 0; more copies than tickets make no other matches
	// unless the rules count them, so all copies are tried.
	for n := 0; n <= greatest(t.rules.Teams[shape].Copies.Max); n++ {
		if t.copies(shape + 1) {
			return true
		}
		t.teams, t.players = append(t.teams, Team{Shape: shape}), append(t.players, 0)
	}
	return false
}

// orderTickets puts the members of a game first, starting with members whose teams are known.
func (t *trial) orderTickets() {
	for _, known := range []bool{true, false} {
		for i := t.from; i < len(t.pool); i++ {
			if (t.member(i).Team != "") == known {
				t.order = append(t.order, i)
			}
		}
	}
	for i := range t.from {
		t.order = append(t.order, i)
	}
}

// place tries all places of the tickets from one on, in their order.
func (t *trial) place(next int) bool {
	if next == len(t.pool) {
		return t.whole()
	}
	ticket := t.order[next]
	member := t.member(ticket)
	if t.left--; t.left <= 0 {
		return false
	}
	for i := range t.teams {
		team := &t.teams[i]
		if member != nil && member.Team != "" {
			if member.Team != t.nameOf(i) {
				continue
			}
		} else if t.twin(i) {
			continue // the same as in the team before
		}
		n := len(t.pool[ticket].Players)
		if t.players[i]+n > greatest(t.rules.Teams[team.Shape].Size.Max) {
			continue
		}
		team.Tickets = append(team.Tickets, ticket)
		t.players[i] += n
		found := t.may() && t.place(next+1)
		t.players[i] -= n
		team.Tickets = team.Tickets[:len(team.Tickets)-1]
		if found {
			return true
		}
	}
	return member == nil && t.place(next+1)
}

// twin reports whether a team is as empty as the one before it, of the same shape, where they may change places.
func (t *trial) twin(i int) bool {
	return t.alike && i > 0 && len(t.teams[i].Tickets) == 0 && len(t.teams[i-1].Tickets) == 0 &&
		t.teams[i-1].Shape == t.teams[i].Shape
}

// nameOf returns the name of a team.
func (t *trial) nameOf(team int) string {
	number := 0
	for _, other := range t.teams[:team+1] {
		if other.Shape == t.teams[team].Shape {
			number++
		}
	}
	return t.rules.Teams[t.teams[team].Shape].Called(number)
}

// may reports whether the teams may be a part of a match.
func (t *trial) may() bool {
	if len(t.closed) == 0 {
		return true
	}
	g := t.looked()
	g.part = true
	if g.tickets() != nil {
		return false
	}
	return slices.ContainsFunc(t.regions, func(region string) bool {
		g.match.Region = region
		return g.region() == nil && !slices.ContainsFunc(t.closed, func(c rules.Condition) bool { return !g.holds(c) })
	})
}

// looked returns the game that the teams are now.
func (t *trial) looked() *game {
	g := *t.game
	g.match = Match{Teams: slices.Clone(t.teams)}
	return &g
}

// whole looks at the match that the teams are.
func (t *trial) whole() bool {
	g := t.looked()
	if g.tickets() != nil || g.joins() != nil {
		return false
	}
	g.times()
	if g.shape() != nil {
		return false
	}
	for i := range g.match.Teams {
		if !g.assign(&g.match.Teams[i]) {
			return false
		}
	}
	for _, g.match.Region = range t.regions {
		g.all = nil
		if g.check() == nil {
			t.match = g.match
			for i, team := range t.match.Teams {
				t.match.Teams[i].Tickets = slices.Clone(team.Tickets)
			}
			return true
		}
	}
	return false
}

// assign gives the players of a team roles, if that is possible.
func (g *game) assign(team *Team) bool {
	shape := g.rules.Teams[team.Shape]
	if len(shape.Roles) == 0 {
		return true
	}
	takes := g.takes(*team)
	team.Roles = make([]string, len(takes))
	var best []string // that lack the fewest players
	fewest := math.Inf(1)
	var next func(player int) bool
	next = func(player int) bool {
		if player == len(takes) {
			if g.roles(*team) != nil {
				return false
			}
			if n := g.lacking(*team); n < fewest {
				best, fewest = slices.Clone(team.Roles), n
			}
			return fewest == 0
		}
		for i, role := range shape.Roles {
			if takes[player][i] {
				team.Roles[player] = role.Name
				if next(player + 1) {
					return true
				}
			}
		}
		return false
	}
	next(0)
	team.Roles = best
	return best != nil
}

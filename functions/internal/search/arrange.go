package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// arrangement is how many teams of each shape a match has.
type arrangement struct {
	shapes []int // of each team
	limits []int // players of each team, at most
	fewest int   // players of the match, at least
	needs  []int // players of each role, at least
	// fullest is the fewest players of a full match. names are the teams' names, once they are needed.
	fullest int
	names   []string
}

// maxListed bounds the arrangements that are listed in advance. If there are more, each anchor computes only the
// arrangements that its waiting tickets can fill.
const maxListed = 64

// shape is how many teams of a shape a match may have, and what each of them needs and takes at least and at most.
type shape struct {
	fewest, most             int // teams
	tickets, players, places int
}

// teamNeeds is what some teams need and take.
type teamNeeds struct{ teams, tickets, players, places int }

// with returns what they need and take with so many more of a shape.
func (l teamNeeds) with(of *shape, n int) teamNeeds {
	return teamNeeds{l.teams + n, l.tickets + n*of.tickets, l.players + n*of.players, l.places + n*of.places}
}

// availability is the number of tickets and players available for a match, and the minimum number of players it must
// have.
type availability struct {
	tickets, players, least int
	fewestFirst             bool // whether the fewest teams are tried first
}

// fill reports whether they may fill some teams and others.
func (c *availability) fill(some, others *teamNeeds) bool {
	return some.teams+others.teams <= rules.MaxTeams && some.tickets+others.tickets <= c.tickets &&
		some.players+others.players <= c.players
}

// arrange lists the numbers of teams, the most teams first, if they are few.
func (s *search) arrange() {
	for i := range s.rules.Teams {
		t := &s.rules.Teams[i]
		of := shape{fewest: atLeast(t.Copies.Min), most: ever(t.Copies.Max), players: atLeast(t.Size.Min),
			places: max(0, ever(t.Size.Max))}
		of.tickets = min(1, of.players)
		s.shapes = append(s.shapes, of)
		s.most += ever(t.Size.Max) * ever(t.Copies.Max)
	}
	s.most = min(s.most, ever(s.rules.Players.Max))
	s.leanest, s.widest = make([]teamNeeds, len(s.shapes)+1), make([]teamNeeds, len(s.shapes)+1)
	for i := len(s.shapes) - 1; i >= 0; i-- {
		of := &s.shapes[i]
		s.leanest[i], s.widest[i] = s.leanest[i+1].with(of, of.fewest), s.widest[i+1].with(of, max(0, of.most))
	}
	s.work = math.MaxInt
	s.enumerate(&availability{tickets: math.MaxInt, players: math.MaxInt}, nil, teamNeeds{}, 0, func(a *arrangement) bool {
		s.arrangements = append(s.arrangements, a)
		return len(s.arrangements) <= maxListed
	})
	s.work = 0
	s.fewestTeams, s.mostTeams = s.arrangements, s.arrangements
	if s.many = len(s.arrangements) > maxListed; s.many {
		s.arrangements = nil
		s.fewestTeams = []*arrangement{s.arrangement(s.copies(func(of *shape) int { return of.fewest }))}
		s.mostTeams = []*arrangement{s.arrangement(s.copies(func(of *shape) int { return of.most }))}
	}
}

// copies returns the shapes of so many teams of each.
func (s *search) copies(of func(*shape) int) (shapes []int) {
	for i := range s.shapes {
		for range of(&s.shapes[i]) {
			shapes = append(shapes, i)
		}
	}
	return shapes
}

// eachArrangement tries the numbers of teams, the most teams first, as long as it shall go on. Where there are many, it
// tries only the numbers that a supply may fill, which may get smaller on the way.
func (s *search) eachArrangement(c *availability, try func(a *arrangement) bool) {
	if s.many {
		s.enumerate(c, nil, teamNeeds{}, 0, try)
		return
	}
	for _, a := range s.arrangements {
		if !try(a) {
			return
		}
	}
}

// enumerate is lineups from a shape on, beside some teams.
func (s *search) enumerate(c *availability, some []int, has teamNeeds, at int, try func(a *arrangement) bool) bool {
	if s.work--; s.work <= 0 {
		return false
	}
	if at == len(s.shapes) {
		if len(some) == 0 {
			return true
		}
		s.work -= len(some) / 8
		return try(s.arrangement(slices.Clone(some)))
	}
	of := &s.shapes[at]
	for i := range of.most - of.fewest + 1 {
		n := of.most - i
		if c.fewestFirst {
			n = of.fewest + i
		}
		next := has.with(of, n)
		if !c.fill(&next, &s.leanest[at+1]) || next.places+s.widest[at+1].places < c.least {
			continue
		}
		all := some
		for range n {
			all = append(all, at)
		}
		if !s.enumerate(c, all, next, at+1, try) {
			return false
		}
	}
	return true
}

// availableFor is an anchor and the candidates, for a new match.
func (b *builder) availableFor(anchor uint32) availability {
	return availability{tickets: len(b.candidates) + 1, players: min(b.open[0]+b.pool.size(anchor), b.most),
		least: atLeast(b.rules.Players.Min)}
}

// availableToJoin counts the members of a game, the tickets that must join it and the candidates. Places that may stay
// open count as tickets.
func (b *builder) availableToJoin() availability {
	open := ever(b.rules.Backfill.Open)
	c := availability{tickets: b.game.pinned + len(b.must) + len(b.candidates) + open,
		players: b.game.pinned + b.open[0] + open}
	for _, t := range b.must {
		c.players += b.pool.size(t)
	}
	return c
}

// tryArrangements tries to make a match with the numbers of teams that the available tickets may fill. If these are
// many and not all combinations are tried, no number of teams gets most of the steps, and the next are those that as
// many players can fill as came together. With the other half of the steps, the fewest teams are tried first: the
// largest group may lack the players that a smaller match needs.
func (b *builder) tryArrangements(c availability, steps int, begin func(a *arrangement) bool, grow func() bool) bool {
	if !b.many || len(b.candidates) <= few {
		return b.tryEach(&c, steps, false, begin, grow)
	}
	half, most := max(1, steps/2), c
	if b.tryEach(&most, half, true, begin, grow) {
		return true
	}
	c.fewestFirst = true
	return b.tryEach(&c, half, false, begin, grow)
}

const (
	// firstSteps is how many steps a number of teams gets at first where all combinations are tried.
	firstSteps = 1 << 10
	// moreSteps is how many times as many it gets when these were too few.
	moreSteps = 8
)

// tryAllFully is tryArrangements where all combinations are tried. Each number of teams gets few steps at first, and
// those that these were too few for get more when all were tried: few teams have few combinations.
func (b *builder) tryAllFully(c availability, begin func(a *arrangement) bool, grow func() bool) (found bool) {
	var done []bool // of each number of teams
	for steps := firstSteps; ; steps *= moreSteps {
		at := 0
		b.eachArrangement(&c, func(a *arrangement) bool {
			if at++; at > len(done) {
				done = append(done, false)
			} else if done[at-1] {
				return true
			}
			if !begin(a) {
				done[at-1] = true
				return true
			}
			b.steps, b.used = steps, 0
			found = grow()
			done[at-1] = b.used <= steps
			return !found && b.work > 0
		})
		if found || b.work <= 0 || !slices.Contains(done, false) {
			return found
		}
	}
}

// tryEach is tryArrangements with so many steps. If it narrows, the supply gets smaller.
func (b *builder) tryEach(
	c *availability, steps int, narrows bool, begin func(a *arrangement) bool, grow func() bool,
) (found bool) {
	quick := b.many && len(b.candidates) > few
	b.eachArrangement(c, func(a *arrangement) bool {
		if b.many {
			steps--
		}
		if !begin(a) {
			return steps > 0
		}
		b.steps, b.used, b.reachedMost = steps, 0, 0
		if quick {
			b.steps = max(steps/4, min(steps, len(b.candidates)))
		}
		if found = grow(); found {
			return false
		}
		if narrows && b.reachedMost > 0 {
			c.players = min(c.players, b.reachedMost)
		}
		steps -= b.used
		return steps > 0 && b.work > 0
	})
	return found
}

func (s *search) arrangement(shapes []int) *arrangement {
	a := &arrangement{shapes: shapes, needs: make([]int, len(s.roles.names))}
	for _, i := range shapes {
		team := &s.rules.Teams[i]
		a.limits = append(a.limits, ever(team.Size.Max))
		size := atLeast(team.Size.Min)
		a.fewest += size
		a.fullest += max(size, atLeast(team.Size.Max))
		for j, role := range team.Roles {
			// A role needs its minimum, and the players of a full team that no other role can take.
			others := 0
			for k, other := range team.Roles {
				if k != j {
					others += atMost(other.Count.Max)
				}
			}
			a.needs[s.roles.shapes[i].global[j]] += max(atLeast(role.Count.Min), size-others)
		}
	}
	a.fewest = max(a.fewest, atLeast(s.rules.Players.Min))
	if s.rules.Players.Max != nil {
		a.fullest = min(a.fullest, atLeast(s.rules.Players.Max))
	}
	return a
}

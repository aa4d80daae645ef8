package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// fewRoles is how many roles of a shape are looked at in all combinations.
const fewRoles = 5

// roleTable is which roles players take.
type roleTable struct {
	names []uint32 // of all shapes
	// numbers are the places of names; column has the roles of players, nil if they do not matter.
	numbers map[string]int
	column  *column
	shapes  []shapeRoles
	weight  *column // by which a player's numbers of roles are multiplied, or nil
	// opens is set if it depends on the age of a ticket which roles its players take, opened is when that was looked at.
	opens    bool
	opened   float64
	unsuited []bool   // of each ticket: whether no team can have it, even alone
	takes    []uint64 // of each player: the roles by number in names. Roles from the 64th on are not told apart
	taken    []uint64 // of each ticket: the roles that one of its players takes
	// amply is how many players are enough for each role where very many wait; nil if roles say nothing.
	amply []int
}

// shapeRoles is the roles of a shape.
type shapeRoles struct {
	global []int // of each role: its number in the table
	// most is how many players there may be whose roles are all in a set of roles. A team can have its roles if that holds
	// for every set (Hall's theorem). It is nil for too many roles.
	most []uint16
	// takes is which roles of the shape a player takes, if there is most.
	takes []uint8
}

// findRoles finds the roles of all teams.
func (s *search) findRoles() {
	s.roles.shapes = make([]shapeRoles, len(s.rules.Teams))
	s.roles.numbers = map[string]int{}
	for i, team := range s.rules.Teams {
		for _, role := range team.Roles {
			n, known := s.roles.numbers[role.Name]
			if !known {
				n = len(s.roles.numbers)
				s.roles.numbers[role.Name] = n
				s.roles.names = append(s.roles.names, s.pool.names.number([]byte(role.Name)))
			}
			s.roles.shapes[i].global = append(s.roles.shapes[i].global, n)
		}
	}
	if s.roles.column = s.column(s.rules.RoleValue); s.roles.column == nil || len(s.roles.names) == 0 {
		s.roles.column = nil
		return
	}
	s.roles.takes = []uint64{}
	s.roles.weight, s.roles.opens = s.column(s.rules.RoleWeight), !s.rules.RoleMax.Constant()
	for i, team := range s.rules.Teams {
		s.roles.shapes[i].find(&s.roles, team)
	}
}

// findAmple finds how many players of each role are enough: one and three quarters of what a match takes.
func (s *search) findAmple() {
	if s.roles.column == nil || len(s.roles.names) > 64 {
		return
	}
	amply := make([]int, len(s.roles.names))
	for _, a := range s.mostTeams {
		most := make([]int, len(amply))
		for i, shape := range a.shapes {
			team := &s.rules.Teams[shape]
			if len(team.Roles) == 0 {
				return // it takes players of any role
			}
			for j, role := range team.Roles {
				most[s.roles.shapes[shape].global[j]] += min(atMost(role.Count.Max), a.limits[i])
			}
		}
		for i, n := range most {
			amply[i] = max(amply[i], 1, 7*n/4)
		}
	}
	s.roles.amply = amply
}

// extendRoles finds which roles players take.
func (s *search) extendRoles() {
	if s.roles.column == nil {
		return
	}
	if s.roles.opens {
		s.openRoles()
	}
	first, from := len(s.roles.takes), uint32(len(s.roles.taken))
	for t := from; int(t) < s.pool.tickets(); t++ {
		taken := uint64(0)
		for p := s.pool.first[t]; p < s.pool.first[t+1]; p++ {
			takes := s.rolesOf(t, p)
			s.roles.takes = append(s.roles.takes, takes)
			taken |= takes
		}
		s.roles.taken = append(s.roles.taken, taken)
	}
	for i, m := range s.members {
		if m.Role == "" {
			continue
		}
		takes := &s.roles.takes[s.pool.first[s.pool.waiting+i]]
		*takes = 0
		if n, known := s.roles.numbers[m.Role]; known {
			*takes = 1 << n
		}
	}
	for i := range s.roles.shapes {
		r := &s.roles.shapes[i]
		if r.most == nil {
			continue
		}
		for _, takes := range s.roles.takes[first:] {
			r.takes = append(r.takes, r.own(takes))
		}
	}
	for t := from; int(t) < s.pool.tickets(); t++ {
		s.roles.unsuited = append(s.roles.unsuited, int(t) < s.pool.waiting && !s.suits(t))
	}
}

// openRoles finds which tickets take other roles than in the last run, since their age is another one.
func (s *search) openRoles() {
	before := s.roles.opened
	s.roles.opened = s.now
	for t := range uint32(len(s.roles.taken)) {
		most, on := s.rules.RoleMax.At(s.pool.age[t])
		was, wasOn := s.rules.RoleMax.At(max(0, before-s.pool.created[t]) / 1000)
		if s.pool.gone[t] || most == was && on == wasOn {
			continue
		}
		taken, other := uint64(0), false
		for p := s.pool.first[t]; p < s.pool.first[t+1]; p++ {
			takes := s.rolesOf(t, p)
			taken |= takes
			if takes == s.roles.takes[p] {
				continue
			}
			s.roles.takes[p], other = takes, true
			for i := range s.roles.shapes {
				if r := &s.roles.shapes[i]; r.most != nil {
					r.takes[p] = r.own(takes)
				}
			}
		}
		if !other {
			continue
		}
		unsuited := s.roles.unsuited[t]
		s.roles.taken[t], s.roles.unsuited[t] = taken, !s.suits(t)
		switch now := s.roles.unsuited[t]; {
		case unsuited && !now:
			s.fresh = append(s.fresh, t) // it was not lined up
		case !unsuited && now:
			s.left = append(s.left, t)
		default:
			s.altered = append(s.altered, t)
		}
	}
}

// own is the roles of a shape, of roles by number in the table.
func (r *shapeRoles) own(all uint64) (takes uint8) {
	for i, n := range r.global {
		if all&(1<<n) != 0 {
			takes |= 1 << i
		}
	}
	return takes
}

// suits reports whether some team can have a ticket, at least alone: one of two tanks suits no team that has one.
func (s *search) suits(t uint32) bool {
	for i := range s.roles.shapes {
		r := &s.roles.shapes[i]
		if len(r.global) == 0 {
			return true
		}
		if r.most == nil || r.suits(s.pool.first[t], s.pool.first[t+1]) {
			return true
		}
	}
	return false
}

// suits reports whether a team can have some players.
func (r *shapeRoles) suits(first, end uint32) bool {
	for set, most := range r.most {
		n := uint16(0)
		for p := first; p < end; p++ {
			if takes := int(r.takes[p]); set&takes == takes {
				n++
			}
		}
		if n > most {
			return false
		}
	}
	return true
}

// cut takes the tickets from one on away, whose first player is players.
func (t *roleTable) cut(tickets int, players uint32) {
	if t.column == nil {
		return
	}
	t.takes, t.taken, t.unsuited = t.takes[:players], t.taken[:tickets], t.unsuited[:tickets]
	for i := range t.shapes {
		if r := &t.shapes[i]; r.most != nil {
			r.takes = r.takes[:players]
		}
	}
}

// maxRoleCost is up to which number the players of a ticket take roles.
func (s *search) maxRoleCost(t uint32) float64 {
	if n, on := s.rules.RoleMax.At(s.pool.age[t]); on {
		return n + rounding.Of(n)
	}
	return math.Inf(1)
}

// rolesOf returns the roles that a player of a ticket takes, all of them if he says nothing.
func (s *search) rolesOf(t, p uint32) (mask uint64) {
	c := s.roles.column
	set, some := c.set(p)
	if !some {
		return ^uint64(0)
	}
	amounts, most := c.part(p), s.maxRoleCost(t)
	for i, element := range set {
		if amounts != nil && !(amounts[i] <= most) {
			continue
		}
		for i, name := range s.roles.names {
			if name == element {
				mask |= 1 << i
			}
		}
	}
	return mask
}

func (r *shapeRoles) find(t *roleTable, team rules.Team) {
	if len(team.Roles) == 0 || len(team.Roles) > fewRoles || len(t.names) > 64 {
		return
	}
	r.most = make([]uint16, 1<<len(team.Roles))
	for set := range r.most {
		sum, rest := 0, ever(team.Size.Max) // what the other roles leave
		for i, role := range team.Roles {
			if set&(1<<i) != 0 {
				sum += atMost(role.Count.Max)
			} else if role.Count.Min != nil {
				rest -= atLeast(role.Count.Min)
			}
		}
		r.most[set] = uint16(max(0, min(sum, rest, rules.MaxPlayers)))
	}
	r.takes = []uint8{}
}

// join counts the players of a ticket in a team, and returns whether the team can have its roles. Leave takes them
// away.
func (b *builder) join(team int, t uint32) bool {
	r := &b.roles.shapes[b.arranged.shapes[team]]
	if r.most == nil {
		return len(r.global) == 0 || b.rolesFit(team)
	}
	fits := true
	counts := &b.counts[team]
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		takes := int(r.takes[p])
		for set := range r.most {
			if set&takes == takes {
				counts[set]++
				fits = fits && counts[set] <= r.most[set]
			}
		}
	}
	return fits
}

func (b *builder) leave(team int, t uint32) {
	r := &b.roles.shapes[b.arranged.shapes[team]]
	if r.most == nil {
		return
	}
	counts := &b.counts[team]
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		takes := int(r.takes[p])
		for set := range r.most {
			if set&takes == takes {
				counts[set]--
			}
		}
	}
}

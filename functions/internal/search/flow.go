package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// flow gives players roles.
type flow struct {
	masks         []uint32 // of each player: the roles that he takes, as bits
	given, counts []int    // of each player: his role; of each role: its players
	least, most   []int    // of each role
	seen          uint32
	// lax is set where roles may have too few players. lacking is how many they lack then.
	lax     bool
	lacking int
}

// assign gives each player of a team a role, if all can have one. b.flow has them then.
func (b *builder) assign(team int) bool {
	shape := &b.rules.Teams[b.arranged.shapes[team]]
	if len(shape.Roles) == 0 {
		return true
	}
	f := &b.flow
	f.lax = b.game != nil
	f.least, f.most = f.least[:0], f.most[:0]
	for i := range shape.Roles {
		least, most := 0, rules.MaxPlayers
		if n, on := b.at(shape.Roles[i].Count.Min); on {
			least = int(math.Ceil(math.Max(n, 0)))
		}
		if n, on := b.at(shape.Roles[i].Count.Max); on {
			most = int(math.Floor(n))
		}
		if most < least && !f.lax || most < 0 {
			return false
		}
		f.least, f.most = append(f.least, least), append(f.most, most)
	}
	b.roleMasks(team)
	if !f.assignRoles() {
		return false
	}
	if b.byRole {
		b.minimizeRoleCost(team)
	}
	return true
}

// rolesFit reports whether the players of a team can have roles at all, if more players come.
func (b *builder) rolesFit(team int) bool {
	shape := &b.rules.Teams[b.arranged.shapes[team]]
	f := &b.flow
	f.least, f.most = f.least[:0], f.most[:0]
	for _, role := range shape.Roles {
		f.least, f.most = append(f.least, 0), append(f.most, atMost(role.Count.Max))
	}
	b.roleMasks(team)
	return f.assignRoles()
}

// roleMasks finds which roles the players of a team take.
func (b *builder) roleMasks(team int) {
	f := &b.flow
	f.masks = f.masks[:0]
	r := &b.roles.shapes[b.arranged.shapes[team]]
	for _, t := range b.teams[team] {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			if r.takes == nil && b.isMember(t) && b.memberOf(t).Role != "" {
				f.masks = append(f.masks, b.fixed(team, b.memberOf(t).Role))
			} else if r.takes != nil {
				f.masks = append(f.masks, uint32(r.takes[p]))
			} else {
				f.masks = append(f.masks, b.rolesIn(r, t, p))
			}
		}
	}
	b.work -= len(f.masks)
}

// fixed returns a role of a team as a bit.
func (b *builder) fixed(team int, name string) (mask uint32) {
	for i, role := range b.rules.Teams[b.arranged.shapes[team]].Roles {
		if role.Name == name {
			mask = 1 << i
		}
	}
	return mask
}

// rolesIn returns the roles of a shape that a player of a ticket takes, as bits.
func (b *builder) rolesIn(r *shapeRoles, t, p uint32) (mask uint32) {
	column := b.roles.column
	set, some := column.set(p)
	amounts, most := column.part(p), b.maxRoleCost(t)
	for i, n := range r.global {
		at := slices.Index(set, b.roles.names[n])
		if !some || at >= 0 && (amounts == nil || amounts[at] <= most) {
			mask |= 1 << i
		}
	}
	return mask
}

// assignRoles gives each player one of the roles that he takes, each role at least and at most so often. First players
// are moved until each has a role, then until no role has too few.
func (f *flow) assignRoles() bool {
	f.given, f.counts, f.lacking = f.given[:0], f.counts[:0], 0
	for range f.masks {
		f.given = append(f.given, -1)
	}
	for range f.most {
		f.counts = append(f.counts, 0)
	}
	// A player that takes an occupied place has moved another one on before: so counts are right after each way.
	for p := range f.given {
		f.seen = 0
		if !f.move(p, -1) {
			return false
		}
	}
	for role := range f.least {
		for f.counts[role] < f.least[role] {
			moved := false
			for p := 0; !moved && p < len(f.given); p++ {
				// A player leaves a role with players to spare, others move on into the one that lacks some.
				if f.counts[f.given[p]] > f.least[f.given[p]] {
					f.seen = 1 << f.given[p]
					moved = f.move(p, role)
				}
			}
			if !moved && !f.lax {
				return false
			}
			if !moved {
				f.lacking += f.least[role] - f.counts[role]
				break
			}
		}
	}
	return true
}

// move finds a way for a player into a role with room, others moving on; or into one that lacks players, if it is not
// negative.
func (f *flow) move(p, lacking int) bool {
	for role := range f.most {
		if f.masks[p]&(1<<role) == 0 || f.seen&(1<<role) != 0 || role == f.given[p] {
			continue
		}
		f.seen |= 1 << role
		free := role == lacking || lacking < 0 && f.counts[role] < f.most[role]
		for q := 0; !free && q < len(f.given); q++ {
			if f.given[q] == role && q != p {
				free = f.move(q, lacking)
			}
		}
		if free {
			if f.given[p] >= 0 {
				f.counts[f.given[p]]--
			}
			f.given[p] = role
			f.counts[role]++
			return true
		}
	}
	return false
}

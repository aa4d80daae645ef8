package waiting

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn"
)

// Role is a role that players of a game take.
type Role struct {
	Name string
	// Value is what the attribute of a player with this role is.
	Value float64
	// Places is how many players of a game have it.
	Places int
}

// DefaultRole is the attribute of players that says which role they take, if the settings name no other.
const DefaultRole = "role"

// maxRoles is how many roles a game has. A role is one byte in Roles.
const maxRoles = 64

// noRole is the byte of a player whose role is none of the game's.
const noRole = 0xff

// parseRoles reads the setting roles.
func parseRoles(s *matchfn.Settings) (roles []Role) {
	names := s.Names("roles")
	if len(names) > maxRoles {
		s.Fail("roles", "must be at most 64")
		return nil
	}
	for _, name := range names {
		at := "roles." + name
		role := Role{Name: name, Value: s.Float(at+".value", math.NaN()), Places: s.Int(at+".places", 1)}
		if role.Value != role.Value {
			s.Fail(at+".value", "must be the value of the players' attribute")
		}
		if role.Places < 1 {
			s.Fail(at+".places", "must be 1 or more")
		}
		for _, other := range roles {
			if other.Value == role.Value {
				s.Fail(at+".value", "must not be the value of "+other.Name)
			}
		}
		roles = append(roles, role)
	}
	return roles
}

// RolesOf returns for each ticket of the run which roles its players take, a byte for each; nil if roles do not matter.
func (r *Rules) RolesOf(run *matchfn.Run) []string {
	if len(r.Roles) == 0 {
		return nil
	}
	players := run.Players()
	values := players.Attribute(r.Role)
	all := make([]byte, len(values))
	for i, value := range values {
		all[i] = r.roleOf("", value)
	}
	roles, text := make([]string, run.Tickets()), string(all)
	for ticket := range roles {
		first, end := players.Of(uint32(ticket))
		roles[ticket] = text[first:end]
	}
	return roles
}

// In returns what a list of RolesOf has of a ticket.
func In(of []string, ticket uint32) string {
	if of == nil {
		return ""
	}
	return of[ticket]
}

// Inside is the property of a backfill ticket that lists the ids of the game's players, one a line, if its server does
// not. It is read and written as long as the server names no player. Properties with this prefix stay when the server
// replaces the others.
const Inside = "matchfn:inside"

// maxInside is how long the property may be: with its name, what a function may note.
const maxInside = 16<<10 - len(Inside)

// IDsOf returns the ids of each ticket's players, one a line; nil if none is known.
func IDsOf(run *matchfn.Run) []string {
	players := run.Players()
	column := players.IDs()
	var all []byte
	ends := make([]int, run.Tickets())
	for ticket := range ends {
		from := len(all)
		first, end := players.Of(uint32(ticket))
		for p := first; p < end; p++ {
			if id, ok := column.Of(p); ok {
				if len(all) > from {
					all = append(all, '\n')
				}
				all = append(all, id...)
			}
		}
		ends[ticket] = len(all)
	}
	if len(all) == 0 {
		return nil
	}
	ids, text, from := make([]string, len(ends)), string(all), 0
	for ticket, end := range ends {
		ids[ticket], from = text[from:end], end
	}
	return ids
}

// NewGame makes the backfill ticket of a new game: how many more players it takes, the middle of two of their values,
// and its players.
func (r *Rules) NewGame(p matchfn.Proposal, open, low, high float64, tickets []uint32, ids func(ticket uint32) string) {
	game := p.CreateBackfill().Attribute(Open, open)
	if r.Attribute != "created" { // the service sets that itself
		game.Attribute(r.Attribute, low/2+high/2)
	}
	Seat(game, nil, tickets, ids)
}

// Seat writes the players of a game into its backfill ticket: the players before, and the players of some tickets. If
// they are too many, it drops the first.
func Seat(b matchfn.Backfill, before []byte, tickets []uint32, ids func(ticket uint32) string) {
	text := before
	for _, t := range tickets {
		if who := ids(t); who != "" {
			if len(text) > 0 {
				text = append(text, '\n')
			}
			text = append(text, who...)
		}
	}
	for len(text) > maxInside {
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	if len(text) > 0 {
		b.Property(Inside, text)
	}
}

// roleOf is the role of a player by its name, or else by the value of the attribute.
func (r *Rules) roleOf(name string, value float64) byte {
	for i := range r.Roles {
		if role := &r.Roles[i]; role.Name == name || name == "" && role.Value == value {
			return byte(i)
		}
	}
	return noRole
}

// Seats is the places of a running game that are free.
type Seats struct {
	// Places is how many there are.
	Places int
	free   []int // by role; nil if roles do not matter
	barred []uint32
	// Inside is the property, nil if the server names the players; inside are the players that it names.
	Inside []byte
	inside map[string]bool

	left     int
	leftFree []int
}

// SeatsOf returns the free places of a game that takes so many players. If its server names the players, and there are
// roles, the roles without a player are free.
func (r *Rules) SeatsOf(run *matchfn.Run, game uint32, open int) *Seats {
	roster := run.BackfillPlayers()
	first, end := roster.Of(game)
	s := &Seats{Places: open, barred: roster.Barred(game)}
	if first == end {
		text, _ := run.BackfillProperty(Inside).Of(game)
		if s.Inside = append([]byte{}, text...); len(text) > 0 {
			s.inside = map[string]bool{}
			for id := range strings.SplitSeq(string(text), "\n") {
				s.inside[id] = true
			}
		}
	}
	if first == end || len(r.Roles) == 0 {
		return s
	}
	values := roster.Attribute(r.Role)
	places := 0
	for _, role := range r.Roles {
		s.free, places = append(s.free, role.Places), places+role.Places
	}
	for p := first; p < end; p++ {
		if role := r.roleOf(roster.Role(p), values[p]); role != noRole {
			s.free[role]--
		}
	}
	if left := places - int(end-first); left < s.Places {
		s.Places = max(0, left)
	}
	return s
}

// ByRole reports whether the places differ by role.
func (s *Seats) ByRole() bool { return s.free != nil }

// Begin makes all places free again, for another choice.
func (s *Seats) Begin() {
	s.left = s.Places
	s.leftFree = append(s.leftFree[:0], s.free...)
}

// has reports whether one of some players is in the game.
func (s *Seats) has(ids string) bool {
	if ids == "" {
		return false
	}
	for id := range strings.SplitSeq(ids, "\n") {
		if s.inside[id] {
			return true
		}
	}
	return false
}

// Left is how many places are left.
func (s *Seats) Left() int { return s.left }

// Take takes places for the players of a ticket, and returns whether all of them get one and none of them is in the
// game. roles come from RolesOf. ids reads the ids of a ticket's players, where the game's players matter.
func (s *Seats) Take(ticket, size uint32, roles string, ids func(ticket uint32) string) bool {
	if int(size) > s.left || len(s.barred) > 0 && slices.Contains(s.barred, ticket) ||
		s.inside != nil && s.has(ids(ticket)) {
		return false
	}
	if s.free != nil {
		for i := range len(roles) {
			role := roles[i]
			if role != noRole {
				s.leftFree[role]--
			}
			if role == noRole || s.leftFree[role] < 0 {
				for ; i >= 0; i-- {
					if roles[i] != noRole {
						s.leftFree[roles[i]]++
					}
				}
				return false
			}
		}
	}
	s.left -= int(size)
	return true
}

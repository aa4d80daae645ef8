package rules

import (
	"math"
	"slices"
	"strconv"
)

// span checks a range of counts or of sums.
func (c *checker) span(path string, s Range) {
	for _, end := range []struct {
		name  string
		bound *Bound
	}{{"min", s.Min}, {"max", s.Max}} {
		if end.bound != nil && end.bound.Clock == Own {
			c.add(path+"."+end.name, "the clock each is for spread and latency alone")
		}
	}
}

// count checks a range of whole numbers.
func (c *checker) count(path string, s Range, most float64) {
	c.span(path, s)
	for _, b := range []*Bound{s.Min, s.Max} {
		if b == nil {
			continue
		}
		_, greatest, _ := b.Over(0, math.Inf(1))
		if b.Linear == nil && !b.isWhole() {
			c.add(path, "must be a whole number")
		}
		if greatest > most {
			c.add(path, "must be at most %v", most)
		}
	}
}

// needed checks a range that a number of players or of teams of each match is in.
func (c *checker) needed(path string, s Range) {
	if why := s.excludes(interval{0, math.Inf(1)}); why != "" {
		c.add(path, "%s: nothing can match", why)
	}
}

func (c *checker) teams() {
	r := c.rules
	if len(r.Teams) == 0 {
		c.add("teams", "a match needs a team")
	}
	for i, t := range r.Teams {
		path := "teams[" + strconv.Itoa(i) + "]"
		if slices.ContainsFunc(r.Teams[:i], func(o Team) bool { return o.Name == t.Name }) {
			c.add(path+".name", "there are two teams %q", t.Name)
		}
		if t.Size.Min == nil || t.Size.Max == nil {
			c.add(path+".size", "needs min and max")
			continue
		}
		if t.Copies.Min == nil || t.Copies.Max == nil {
			c.add(path+".copies", "needs min and max")
			continue
		}
		c.count(path+".copies", t.Copies, MaxTeams)
		c.needed(path+".copies", t.Copies)
		c.count(path+".size", t.Size, MaxPlayers)
		one := c.sizes.add(t)
		if one.sure() {
			c.needed(path+".size", t.Size)
		}
		c.roles(path+".roles", t, one)
	}
	c.teamNames()
	all := &c.sizes
	if all.teams.high > MaxTeams {
		c.add("teams", "a match may have %v teams, and at most %d are allowed", all.teams.high, MaxTeams)
	}
	if all.players.high < 1 {
		c.add("teams", "no team ever takes a player: nothing can match")
	}
	c.count("players", r.Players, MaxPlayers)
	c.needed("players", r.Players)
	if players := r.Players.over().and(all.players); players.empty() || players.high < 1 {
		c.add("players", "the teams have %v to %v players: nothing can match", all.players.low, all.players.high)
	}
	if all.players.low > MaxPlayers {
		c.add("teams", "a match needs %v players, and at most %d are allowed", all.players.low, MaxPlayers)
	}
	all.players = r.Players.over().and(all.players).and(interval{1, math.Inf(1)})
}

// roles checks the roles of a team. What they need does not matter if a match may do without such teams.
func (c *checker) roles(path string, t Team, size shape) {
	if len(t.Roles) == 0 {
		return
	}
	var all interval
	for i, role := range t.Roles {
		at := path + "." + role.Name
		c.count(at, role.Count, MaxPlayers)
		if size.sure() {
			c.needed(at, role.Count)
		}
		if slices.ContainsFunc(t.Roles[:i], func(o Role) bool { return o.Name == role.Name }) {
			c.add(path, "there are two roles %q", role.Name)
		}
		one := role.Count.over()
		all.low, all.high = all.low+max(0, one.low), all.high+max(0, one.high)
	}
	if c.rules.RoleValue == "" {
		c.add(path, "no value says which roles players take: name it in roles")
	}
	if size.sure() && all.low > size.players.high {
		c.add(path, "need %v players, and the team has at most %v: nothing can match", all.low, size.players.high)
	}
	if size.sure() && all.high < size.players.low {
		c.add(path, "take at most %v players, and the team has at least %v: nothing can match", all.high, size.players.low)
	}
}

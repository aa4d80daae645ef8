package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Problem is what is wrong with a rule set, and where: a path as in teams[0].size.
type Problem struct{ Path, Text string }

func (p Problem) String() string {
	if p.Path == "" {
		return p.Text
	}
	return p.Path + ": " + p.Text
}

// Check returns what is wrong with a rule set: names that mean nothing, values of the wrong kind, and what no match can
// ever satisfy.
func Check(r *Rules) []Problem {
	c := &checker{rules: r}
	c.values()
	c.teams()
	for i, rule := range r.Rules {
		path := "rules[" + strconv.Itoa(i) + "]"
		if rule.Name == "regions" && i == len(r.Rules)-1 && r.RegionValue != "" {
			path = "regions"
		}
		c.never(path+".active", rule.Active)
		c.condition(path, rule.Need)
	}
	for i, p := range r.Prefer {
		path := "prefer[" + strconv.Itoa(i) + "]"
		if p.Need != nil {
			c.condition(path, p.Need)
		} else {
			c.prefers = true
			c.expression(path, p.Amount)
			c.prefers = false
		}
	}
	for i, o := range r.Order {
		c.order("order["+strconv.Itoa(i)+"]", o)
	}
	if r.Priority != "" {
		c.value("priority", r.Priority, Number)
	}
	c.patience()
	c.backfill()
	if c.nodes > MaxConditions {
		c.add("rules", "there are %d conditions and expressions, and at most %d are allowed", c.nodes, MaxConditions)
	}
	return c.problems
}

type checker struct {
	rules    *Rules
	problems []Problem
	prefers  bool // whether the amount of a preference is looked at
	nodes    int  // conditions and expressions
}

func (c *checker) add(path, format string, args ...any) {
	c.problems = append(c.problems, Problem{path, fmt.Sprintf(format, args...)})
}

// value checks that a value is there and of one of some kinds.
func (c *checker) value(path, name string, kinds ...Kind) {
	v := c.rules.ValueOf(name)
	if v == nil {
		c.add(path, "there is no value %q: name it in numbers or values", name)
		return
	}
	if !slices.Contains(kinds, v.Kind) {
		c.add(path, "the value %q must be a %s here, not a %s", name, kinds[0], v.Kind)
	}
}

func (c *checker) values() {
	r := c.rules
	for i, v := range r.Values {
		path := "values." + v.Name
		if slices.ContainsFunc(r.Values[:i], func(o Value) bool { return o.Name == v.Name }) {
			c.add(path, "there are two values of this name")
		}
		if !slices.Contains(merges[v.Kind], string(v.Party)) {
			c.add(path+".party", "a %s cannot be merged by %q", v.Kind, v.Party)
		}
		if v.From == "" {
			c.add(path, "is from no name")
		}
	}
	if r.RoleValue != "" {
		c.value("roles", r.RoleValue, Set, String, Map)
	}
	if r.RoleMax != nil || r.RoleWeight != "" {
		c.value("roles.from", r.RoleValue, Map)
	}
	if r.RoleMax != nil {
		c.limit("roles.max", r.RoleMax)
	}
	if r.RoleWeight != "" {
		c.value("roles.weight", r.RoleWeight, Number)
	}
	if r.RegionValue != "" {
		c.value("regions.from", r.RegionValue, Map)
	}
}

// never reports a condition's bound that is always 0: a rule that is never active.
func (c *checker) never(path string, b *Bound) {
	if b == nil {
		return
	}
	if _, greatest, _ := b.Over(0, math.Inf(1)); greatest <= 0 {
		c.add(path, "the rule never holds")
	}
}

// ends returns the least that Min can be and the greatest that Max can be, at any age.
func ends(s Range) (least, greatest float64) {
	least, greatest = math.Inf(-1), math.Inf(1)
	if s.Min != nil {
		if n, _, off := s.Min.Over(0, math.Inf(1)); !off {
			least = n
		}
	}
	if s.Max != nil {
		if _, n, off := s.Max.Over(0, math.Inf(1)); !off {
			greatest = n
		}
	}
	return least, greatest
}

// span checks a range of counts or of sums that must not be empty at all ages.
func (c *checker) span(path string, s Range) {
	for _, end := range []struct {
		name  string
		bound *Bound
	}{{"min", s.Min}, {"max", s.Max}} {
		if end.bound != nil && end.bound.Clock == Own {
			c.add(path+"."+end.name, "the clock each is for spread and latency alone")
		}
	}
	if least, greatest := ends(s); least > greatest {
		c.add(path, "min is greater than max, whatever the time: nothing can match")
	}
}

func (c *checker) count(path string, s Range, most float64) {
	c.span(path, s)
	for _, b := range []*Bound{s.Min, s.Max} {
		if b == nil {
			continue
		}
		least, greatest, _ := b.Over(0, math.Inf(1))
		if b.Linear == nil && (least != math.Trunc(least) || greatest != math.Trunc(greatest)) {
			c.add(path, "must be a whole number")
		}
		if greatest > most {
			c.add(path, "must be at most %v", most)
		}
	}
	if _, greatest := ends(s); greatest < 0 {
		c.add(path, "max is negative: nothing can match")
	}
}

func (c *checker) teams() {
	r := c.rules
	if len(r.Teams) == 0 {
		c.add("teams", "a match needs a team")
	}
	var fewest, most, copies float64
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
		c.count(path+".size", t.Size, MaxPlayers)
		minSize, maxSize := ends(t.Size)
		minCopies, maxCopies := ends(t.Copies)
		fewest += max(0, minSize) * max(0, minCopies)
		most += maxSize * maxCopies
		copies += maxCopies
		c.roles(path+".roles", t, minSize, maxSize)
	}
	if copies > MaxTeams {
		c.add("teams", "a match may have %v teams, and at most %d are allowed", copies, MaxTeams)
	}
	if most < 1 {
		c.add("teams", "no team ever takes a player: nothing can match")
	}
	c.count("players", r.Players, MaxPlayers)
	least, greatest := ends(r.Players)
	if least > most || greatest < fewest || greatest < 1 {
		c.add("players", "the teams have %v to %v players: nothing can match", fewest, most)
	}
	if fewest > MaxPlayers {
		c.add("teams", "a match needs %v players, and at most %d are allowed", fewest, MaxPlayers)
	}
}

func (c *checker) roles(path string, t Team, minSize, maxSize float64) {
	var fewest, most float64
	for i, role := range t.Roles {
		c.count(path+"."+role.Name, role.Count, MaxPlayers)
		if slices.ContainsFunc(t.Roles[:i], func(o Role) bool { return o.Name == role.Name }) {
			c.add(path, "there are two roles %q", role.Name)
		}
		least, greatest := ends(role.Count)
		fewest += max(0, least)
		most += greatest
	}
	if len(t.Roles) == 0 {
		return
	}
	if c.rules.RoleValue == "" {
		c.add(path, "no value says which roles players take: name it in roles")
	}
	if fewest > maxSize {
		c.add(path, "need %v players, and the team has at most %v: nothing can match", fewest, maxSize)
	}
	if most < minSize {
		c.add(path, "take at most %v players, and the team has at least %v: nothing can match", most, minSize)
	}
}

func (c *checker) scope(path string, s Scope) {
	for _, name := range s.Teams {
		c.team(path+".in", name)
	}
}

func (c *checker) team(path, name string) {
	if !slices.ContainsFunc(c.rules.Teams, func(t Team) bool { return t.Name == name }) {
		c.add(path, "there is no team %q", name)
	}
}

func (c *checker) order(path string, o Order) {
	v := c.rules.ValueOf(o.Value)
	if v == nil {
		c.value(path, o.Value)
		return
	}
	if keyed := o.Key != "" || o.KeyOf != ""; keyed != (v.Kind == Map) || !keyed && v.Kind != Number {
		c.add(path, "must be by a number, or by a map with key or keyOf")
	}
}

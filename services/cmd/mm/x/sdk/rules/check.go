package rules

import (
	"fmt"
	"slices"
	"strconv"

	"matchmaker.dev/pkg/matchfn/block"
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
	c := &checker{rules: r, sizes: sizes{rules: r}}
	c.values()
	c.teams()
	for i, rule := range r.Rules {
		path := c.ruleAt(i)
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
	if len(c.problems) == 0 {
		c.rulesHold()
	}
	return c.problems
}

type checker struct {
	rules    *Rules
	problems []Problem
	prefers  bool // whether the amount of a preference is looked at
	nodes    int  // conditions and expressions
	sizes    sizes
	steps    int // of rulesHold
}

// ruleAt returns the path of a rule.
func (c *checker) ruleAt(i int) string {
	if c.rules.Rules[i].Name == "regions" && i == len(c.rules.Rules)-1 && c.rules.RegionValue != "" {
		return "regions"
	}
	return "rules[" + strconv.Itoa(i) + "]"
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
	r, natural := c.rules, Natural(c.rules)
	for i, v := range r.Values {
		path := "values." + v.Name
		if natural[v.Name] && v.Default.negative() {
			c.add(path+".default", "must not be negative: it is a latency, a reluctance, the weight of one, or a deviation")
		}
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
	c.regionNames()
}

// regionNames checks the names of regions, also of rules that were not parsed.
func (c *checker) regionNames() {
	names := c.rules.RegionNames
	if len(names) > 0 && c.rules.RegionValue == "" {
		c.add("regions.names", "the rules have no regions")
	}
	if len(names) > MaxRegions {
		c.add("regions.names", "must have 1 to %d names", MaxRegions)
		return
	}
	for i, name := range names {
		if name == "" || len(name) > block.MaxText {
			c.add("regions.names", "a name must have 1 to %d bytes", block.MaxText)
		}
		if slices.Contains(names[:i], name) {
			c.add("regions.names", "%q is there twice", name)
		}
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

package rules

import (
	"fmt"
	"math"
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

const badName = "the name %q must have 1 to %d bytes, and no control characters"

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
		if !isName(name) {
			c.add("regions.names", badName, name, block.MaxText)
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

// never reports a bound that is always 0 or off, as of a rule that is never active.
func (c *checker) never(path string, b *Bound) {
	if b == nil {
		return
	}
	if least, greatest, _ := b.Over(0, math.Inf(1)); least >= 0 && greatest <= 0 {
		c.add(path, "it is never true: leave the rule out")
	}
}

// limit checks the greatest amount of something that is never negative.
func (c *checker) limit(path string, b *Bound) {
	if b == nil {
		c.add(path, "is missing")
		return
	}
	if least, _, _ := b.Over(0, math.Inf(1)); least < 0 {
		c.add(path, "must not be negative at any time")
	}
}

func (c *checker) condition(path string, need Condition) {
	if c.nodes++; need == nil {
		c.add(path, "there is no condition")
		return
	}
	need.check(c, path)
}

func (c *checker) stat(path string, stat Stat, value string) {
	switch {
	case stat == StatTickets || stat == StatParty:
	case stat == StatCount && value == "":
	case stat == StatCount:
		if c.rules.ValueOf(value) == nil {
			c.value(path, value)
		}
	default:
		c.value(path, value, Number)
	}
}

func (c *checker) expression(path string, e Expression) {
	if c.nodes++; e == nil {
		c.add(path, "there is no expression")
		return
	}
	e.check(c, path)
}

// teamNames checks that no two teams of a match have the same name. Teams of the same shape are reported elsewhere.
func (c *checker) teamNames() {
	of := map[string]int{} // the shape of each name
	for i := range c.rules.Teams {
		t := &c.rules.Teams[i]
		if t.Copies.Max == nil {
			continue
		}
		_, most, _ := t.Copies.Max.Over(0, math.Inf(1))
		for number := 1; number <= int(min(most, MaxTeams)); number++ {
			name := t.Called(number)
			if !isName(name) {
				c.add("teams["+strconv.Itoa(i)+"].name", badName, name, block.MaxText)
				break
			}
			other, taken := of[name]
			if !taken {
				of[name] = i
				continue
			}
			if o := &c.rules.Teams[other]; o.Name != t.Name {
				c.add("teams["+strconv.Itoa(i)+"].name", "a match may have two teams %q, of %q and of %q", name, o.Name, t.Name)
			}
			break
		}
	}
}

// ranks order the statistics of the same numbers: one is never less than one of a lower rank. The averages and medians
// of infinite numbers may be none at all.
var ranks = map[Stat]int{StatMin: 1, StatAverage: 2, StatMedian: 2, StatMax: 3}

// stats returns the statistics of both sides, if they are of the same numbers.
func (n *Compare) stats() (left, right Stat, same bool) {
	switch l := n.Left.(type) {
	case *StatOf:
		r, is := n.Right.(*StatOf)
		if !is || l.Value == "" || l.Value != r.Value || !l.Scope.covers(r.Scope) || !r.Scope.covers(l.Scope) {
			return "", "", false
		}
		return l.Stat, r.Stat, true
	case *Reduce:
		r, is := n.Right.(*Reduce)
		if !is || string(oneLine(nil, l.Of.written())) != string(oneLine(nil, r.Of.written())) {
			return "", "", false
		}
		return l.Stat, r.Stat, true
	}
	return "", "", false
}

// rankFate compares statistics of the same numbers, such as the greatest and the least. Some is whether there are any.
func (n *Compare) rankFate(some bool) (fate, string) {
	left, right, same := n.stats()
	l, r := ranks[left], ranks[right]
	if !same || l == 0 || r == 0 || l == r && left != right {
		return open, ""
	}
	if some && (n.Op == Less && l >= r || n.Op == Greater && l <= r) {
		return never, fmt.Sprintf("of the same numbers, %s is never %s %s", left, n.Op, right)
	}
	_, players := n.Left.(*StatOf)
	if players && l != 2 && r != 2 && (n.Op == GreaterEqual && l >= r || n.Op == LessEqual && l <= r) {
		return always, ""
	}
	return open, ""
}

package rules

import (
	"math"
	"strconv"
)

// never reports a bound that is always 0 or off: that of a rule that is never active.
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
	c.nodes++
	switch n := need.(type) {
	case *Same:
		c.value(path, n.Value, String, Number)
		c.scope(path, n.Scope)
	case *Spread:
		c.value(path+".spread", n.Value, Number)
		c.limit(path+".max", n.Max)
		c.scope(path, n.Scope)
	case *Share:
		c.value(path+".share", n.Value, Set, String)
		c.scope(path, n.Scope)
		if n.Min == nil {
			c.add(path+".min", "is missing")
		}
	case *Overlap:
		c.value(path+".overlap", n.Value, Set, String)
		if n.Other != "" {
			c.value(path+"."+string(n.Merge), n.Other, Set, String)
		}
		c.count(path+".count", n.Count, math.Inf(1))
		c.scope(path, n.Scope)
	case *Holders:
		c.value(path+".holders", n.Value, Set, String)
		c.count(path+".count", n.Count, MaxPlayers)
		c.scope(path, n.Scope)
	case *Total:
		c.value(path+".total", n.Value, Number)
		c.span(path+".sum", n.Sum)
		c.scope(path, n.Scope)
	case *Gap:
		c.stat(path, n.Stat, n.Value)
		c.limit(path+".max", n.Max)
		for _, name := range n.Teams {
			c.team(path+".in", name)
		}
	case *Compare:
		c.expression(path+".compare[0]", n.Left)
		c.expression(path+".compare[2]", n.Right)
	case *Latency:
		c.latency(path, n)
	case *Avoid:
		c.value(path+".avoid", n.Value, Set, String)
		c.value(path+".id", n.ID, String)
		c.scope(path, n.Scope)
	case *Premade:
		if n.Players == nil {
			c.add(path+".premade", "is missing")
		}
	default:
		c.logic(path, need)
	}
}

func (c *checker) latency(path string, n *Latency) {
	if c.rules.RegionValue == "" {
		c.add(path, "a match has a region only if the rules have regions")
	}
	c.value(path, n.Value, Map)
	for name, b := range map[string]*Bound{".max": n.Max, ".over": n.Over, ".apart": n.Apart} {
		if b != nil {
			c.limit(path+name, b)
		}
	}
}

func (c *checker) logic(path string, need Condition) {
	each := func(name string, of []Condition) {
		if len(of) == 0 {
			c.add(path+"."+name, "must have at least one condition")
		}
		for i, one := range of {
			c.condition(path+"."+name+"["+strconv.Itoa(i)+"]", one)
		}
	}
	switch n := need.(type) {
	case *All:
		each("all", n.Of)
	case *AnyOf:
		each("any", n.Of)
	case *One:
		each("one", n.Of)
	case *Not:
		c.condition(path+".not", n.Of)
	default:
		c.add(path, "there is no condition")
	}
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
	c.nodes++
	switch e := e.(type) {
	case *Literal:
		if e.Bound == nil {
			c.add(path, "there is no number")
		}
	case *StatOf:
		c.stat(path, e.Stat, e.Value)
		c.scope(path, e.Scope)
	case *Reduce:
		c.expression(path+"."+string(e.Stat), e.Of)
	case *Abs:
		c.expression(path+".abs", e.Of)
	case *LatencyOf:
		if c.rules.RegionValue == "" {
			c.add(path, "a match has a region only if the rules have regions")
		}
		c.value(path, e.Value, Map)
	case *Reluctance:
		if !c.prefers {
			c.add(path, "reluctance is for low and high in prefer: roles are given as players like them best")
		}
		c.value("roles", c.rules.RoleValue, Map)
		c.scope(path, e.Scope)
	case *OddsOf:
		c.value(path+"."+string(e.Odds), e.Value, Number)
		if e.Deviation != "" {
			c.value(path+".deviation", e.Deviation, Number)
		}
		if problem := e.problem(); problem != "" {
			c.add(path+".beta", "%s", problem)
		}
	case *Arithmetic:
		for _, o := range operations {
			if o.op == e.Op {
				c.expression(path+"."+o.name+"[0]", e.Left)
				c.expression(path+"."+o.name+"[1]", e.Right)
			}
		}
	default:
		c.add(path, "there is no expression")
	}
}

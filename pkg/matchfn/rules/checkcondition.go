package rules

import "math"

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

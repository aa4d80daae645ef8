package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// gap is a rules.Gap.
type gap rules.Gap

func (c *gap) holds(b *builder, _ int) bool { return b.under(c.Max, c.unequal(b)) }

func (c *gap) near(b *builder, _ int, part float64) bool {
	most, on := b.at(c.Max)
	return !on || !(c.unequal(b) > most*part)
}

func (c *gap) measureName() string {
	if c.Value == "" {
		return ""
	}
	return c.Value + " gap"
}

func (c *gap) measure(b *builder) float64 {
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, team := range b.teamsOf(c.Teams) {
		if n, some := b.stat(c.Stat, c.Value, team); some {
			least, greatest = math.Min(least, n), math.Max(greatest, n)
		}
	}
	return greatest - least // without two numbers it is 0 or less
}

// unequal is the gap, less what rounding may have added.
func (c *gap) unequal(b *builder) float64 {
	b.magnitude = 0
	apart := c.measure(b)
	return apart - rounding.Of(b.magnitude)
}

package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// spread is a rules.Spread.
type spread rules.Spread

func (c *spread) holds(b *builder, _ int) bool { return c.near(b, 0, 1) }

func (c *spread) near(b *builder, _ int, part float64) bool {
	return every(b.groups(c.Scope), func(group []uint32) bool { return c.within(b, group, part) })
}

func (c *spread) compares() (of rules.Of, refuses, closed bool) { return c.Scope.Of, true, true }

func (c *spread) fits(b *builder, t uint32, others, team []uint32) bool {
	return c.has(b, t, b.among(c.Scope, others, team), b.narrow)
}

func (c *spread) measureName() string { return c.Value + " spread" }

func (c *spread) measure(b *builder) float64 {
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, t := range b.chosen {
		low, high := span(b.pool, b.column(c.Value), t)
		least, greatest = lesser(least, low), greater(greatest, high)
	}
	return greatest - least
}

// within reports whether tickets are within a part of the spread.
func (c *spread) within(b *builder, group []uint32, part float64) bool {
	column := b.column(c.Value)
	if c.Max.Clock == rules.Own {
		for i, t := range group {
			if !c.has(b, t, group[:i], part) {
				return false
			}
		}
		return true
	}
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, t := range group {
		low, high := span(b.pool, column, t)
		least, greatest = math.Min(least, low), math.Max(greatest, high)
	}
	if part < 1 {
		most, on := b.at(c.Max)
		return !on || rounding.Apart(least, greatest) <= most*part
	}
	return b.under(c.Max, rounding.Apart(least, greatest)) // without numbers it is less than any bound
}

// has reports whether a ticket is within a part of the spread.
func (c *spread) has(b *builder, t uint32, others []uint32, part float64) bool {
	column := b.column(c.Value)
	own := c.Max.Clock == rules.Own
	most := 0.0
	if !own {
		most = b.loosest(c.Max)
	}
	least, greatest := span(b.pool, column, t)
	for i := -1; i < len(others); i++ {
		o := t
		if i >= 0 {
			o = others[i]
		}
		low, high := span(b.pool, column, o)
		if low > high || least > greatest {
			continue
		}
		apart, limit := math.Max(rounding.Apart(least, high), rounding.Apart(low, greatest)), most
		if own {
			limit = math.Inf(1)
			for _, one := range [2]uint32{t, o} {
				if b.isMember(one) {
					continue // he does not wait
				}
				if n, on := c.Max.At(b.pool.age[one]); on {
					limit = math.Min(limit, n)
					b.noteMost(c.Max, b.pool.age[one], apart, apart <= n)
				}
			}
		} else if age := b.loosestAt(c.Max); !math.IsInf(age, 1) {
			b.noteMost(c.Max, age, apart, apart <= most)
		}
		if apart > limit*part {
			return false
		}
	}
	return true
}

// span returns the least and the greatest number of a ticket's players. Without any, the least is the greater.
func span(p *pool, c *column, t uint32) (least, greatest float64) {
	least, greatest = math.Inf(1), math.Inf(-1)
	for player := p.first[t]; player < p.first[t+1]; player++ {
		v := c.numbers[player]
		if v < least {
			least = v
		}
		if v > greatest {
			greatest = v
		}
	}
	return least, greatest
}

package rulestest

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// unit is what a condition looks at: a player, or a party where its value counts once.
type unit struct {
	ticket, player int
	value          any
}

// units are the units of some tickets that have a value.
func (g *game) units(name string, tickets []int) (all []unit) {
	v := g.rules.ValueOf(name)
	for _, t := range tickets {
		for p, value := range g.values.of(name, t) {
			if value != nil && (!v.Once || p == 0) {
				all = append(all, unit{t, p, value})
			}
		}
	}
	return all
}

// groups are the tickets that a condition looks at together.
func (g *game) groups(s rules.Scope) (groups [][]int) {
	switch s.Of {
	case rules.InTeam:
		return g.teams(nil)
	case rules.InTeams:
		return g.teams(s.Teams)
	case rules.BesideAnchor:
		for _, t := range g.all {
			if t != g.anchor {
				groups = append(groups, []int{g.anchor, t})
			}
		}
		if groups == nil {
			groups = [][]int{{g.anchor}}
		}
		return groups
	}
	return [][]int{g.all}
}

// teams are the tickets of the teams of some shapes, in the order of the match; of all for nil.
func (g *game) teams(names []string) (groups [][]int) {
	for _, t := range g.match.Teams {
		if names == nil || slices.Contains(names, g.rules.Teams[t.Shape].Name) {
			groups = append(groups, t.Tickets)
		}
	}
	return groups
}

func (g *game) holds(need rules.Condition) bool {
	every := func(s rules.Scope, holds func(tickets []int) bool) bool {
		for _, group := range g.groups(s) {
			if !holds(group) {
				return false
			}
		}
		return true
	}
	switch c := need.(type) {
	case *rules.Same:
		return every(c.Scope, func(tickets []int) bool { return g.same(c, tickets) })
	case *rules.Spread:
		return every(c.Scope, func(tickets []int) bool { return g.spread(c, tickets) })
	case *rules.Share:
		return every(c.Scope, func(tickets []int) bool { return g.share(c, tickets) })
	case *rules.Overlap:
		return every(c.Scope, func(tickets []int) bool { return g.overlap(c, tickets) })
	case *rules.Holders:
		return every(c.Scope, func(tickets []int) bool {
			n := 0
			for _, u := range g.units(c.Value, tickets) {
				if slices.Contains(setOf(u.value), c.Element) {
					n++
				}
			}
			return g.within(float64(n), c.Count)
		})
	case *rules.Total:
		return every(c.Scope, func(tickets []int) bool {
			sum, magnitude := g.stat(rules.StatSum, c.Value, tickets)
			return g.inside(sum[0], c.Sum, magnitude)
		})
	case *rules.Avoid:
		return every(c.Scope, func(tickets []int) bool { return g.avoid(c, tickets) })
	case *rules.Gap:
		return g.gap(c)
	case *rules.Compare:
		left, l := g.numbers(c.Left)
		right, r := g.numbers(c.Right)
		for _, pair := range pairs(left, right) {
			if !c.Op.Holds(pair[0], pair[1], max(l, r)) {
				return false
			}
		}
		return true
	case *rules.Latency:
		return g.latency(c)
	case *rules.Premade:
		return g.premade(c)
	}
	return g.logic(need)
}

func (g *game) logic(need rules.Condition) bool {
	held := func(of []rules.Condition) (n int) {
		for _, c := range of {
			if g.holds(c) {
				n++
			}
		}
		return n
	}
	switch c := need.(type) {
	case *rules.All:
		return held(c.Of) == len(c.Of)
	case *rules.AnyOf:
		return held(c.Of) > 0
	case *rules.One:
		return held(c.Of) == 1
	case *rules.Not:
		return !g.holds(c.Of)
	}
	return false
}

func (g *game) same(c *rules.Same, tickets []int) bool {
	units := g.units(c.Value, tickets)
	for i, u := range units {
		for _, o := range units[:i] {
			if (u.value == o.value) == c.Different {
				return false
			}
		}
	}
	return true
}

func (g *game) spread(c *rules.Spread, tickets []int) bool {
	units := g.units(c.Value, tickets)
	for i, u := range units {
		for _, o := range units[:i] {
			a, b := u.value.(float64), o.value.(float64)
			gap := rounding.Apart(min(a, b), max(a, b))
			limits := []float64{}
			if c.Max.Clock == rules.Own {
				for _, t := range []int{u.ticket, o.ticket} {
					if g.member(t) != nil {
						continue // he does not wait
					}
					if n, on := c.Max.At(g.pool[t].Age); on {
						limits = append(limits, n)
					}
				}
			} else if n, on := g.greatest(c.Max); on {
				limits = append(limits, n)
			}
			if slices.ContainsFunc(limits, func(most float64) bool { return gap > most }) {
				return false
			}
		}
	}
	return true
}

func (g *game) share(c *rules.Share, tickets []int) bool {
	var sets [][]string
	for _, u := range g.units(c.Value, tickets) {
		sets = append(sets, setOf(u.value))
	}
	least, on := g.least(c.Min)
	return !on || len(sets) == 0 || float64(len(mergeSets(rules.Intersection, sets))) >= least
}

func (g *game) overlap(c *rules.Overlap, tickets []int) bool {
	with := c.With
	if c.Other != "" {
		var sets [][]string
		for _, u := range g.units(c.Other, tickets) {
			sets = append(sets, setOf(u.value))
		}
		if len(sets) > 0 {
			with = mergeSets(c.Merge, sets)
		}
	}
	for _, u := range g.units(c.Value, tickets) {
		if !g.within(float64(len(common(setOf(u.value), with))), c.Count) {
			return false
		}
	}
	return true
}

func (g *game) avoid(c *rules.Avoid, tickets []int) bool {
	for _, u := range g.units(c.Value, tickets) {
		for _, o := range g.units(c.ID, tickets) {
			if (u.ticket != o.ticket || u.player != o.player) && slices.Contains(setOf(u.value), o.value.(string)) {
				return false
			}
		}
	}
	return true
}

func (g *game) gap(c *rules.Gap) bool {
	var of []float64
	magnitude := 0.0
	for _, tickets := range g.teams(c.Teams) {
		one, m := g.stat(c.Stat, c.Value, tickets)
		of, magnitude = append(of, one...), max(magnitude, m)
	}
	most, on := g.bound(c.Max)
	return !on || len(of) == 0 || slices.Max(of)-slices.Min(of)-rounding.Of(magnitude) <= most
}

func (g *game) latency(c *rules.Latency) bool {
	units := g.units(c.Value, g.all)
	var to []float64
	for _, u := range units {
		n, ok := u.value.(map[string]float64)[g.match.Region]
		if !ok {
			return false
		}
		to = append(to, n)
	}
	limit := func(b *rules.Bound, u unit, n float64) bool {
		if b == nil {
			return true
		}
		most, on := g.greatest(b)
		if b.Clock == rules.Own {
			most, on = b.At(g.pool[u.ticket].Age)
		}
		return !on || rounding.AtMost(n, most)
	}
	for i, u := range units {
		best := math.Inf(1)
		for _, n := range u.value.(map[string]float64) {
			best = min(best, n)
		}
		from := slices.Min(to)
		if c.From == rules.Average {
			from = reduce(rules.StatAverage, to)[0]
		}
		if !limit(c.Max, u, to[i]) || !limit(c.Over, u, rounding.Apart(best, to[i])) ||
			!limit(c.Apart, u, rounding.Apart(from, to[i])) {
			return false
		}
	}
	return true
}

func (g *game) premade(c *rules.Premade) bool {
	least, on := g.bound(c.Players)
	if !on {
		return true
	}
	with := 0
	for _, t := range g.match.Teams {
		if party, _ := g.stat(rules.StatParty, "", t.Tickets); party[0] >= least {
			with++
		}
	}
	return with == 0 || with == len(g.match.Teams)
}

package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// groups are the tickets that a condition looks at together.
func (b *builder) groups(s rules.Scope) [][]uint32 {
	switch s.Of {
	case rules.InTeam:
		return b.teams
	case rules.InTeams:
		return b.teamsOf(s.Teams)
	case rules.BesideAnchor:
		groups := [][]uint32{{b.anchor}}
		for _, t := range b.chosen {
			if t != b.anchor {
				groups = append(groups, []uint32{b.anchor, t})
			}
		}
		return groups
	}
	b.one[0] = b.chosen
	return b.one[:]
}

func (b *builder) teamsOf(names []string) (groups [][]uint32) {
	if names == nil {
		return b.teams
	}
	for i, team := range b.teams {
		if slices.Contains(names, b.rules.Teams[b.arranged.shapes[i]].Name) {
			groups = append(groups, team)
		}
	}
	return groups
}

// holds reports whether a condition holds in the complete match.
func (b *builder) holds(need rules.Condition, region int) bool {
	b.work--
	defer b.charge()
	switch c := need.(type) {
	case *rules.Same:
		column := b.column(c.Value)
		for _, group := range b.groups(c.Scope) {
			for i, t := range group {
				if c.Different && !b.different(column, t, group[:i]) || !c.Different && !b.alike(column, t, t) {
					return false
				}
				for _, o := range group[:i] {
					if !c.Different && !b.alike(column, t, o) {
						return false
					}
				}
			}
		}
		return true
	case *rules.Spread:
		for _, group := range b.groups(c.Scope) {
			if !b.spread(c, group, 1) {
				return false
			}
		}
		return true
	case *rules.Share:
		least, on := b.at(c.Min)
		for _, group := range b.groups(c.Scope) {
			if n, some := b.inCommon(b.column(c.Value), group); on && some && float64(n) < least {
				return false
			}
		}
		return true
	case *rules.Overlap:
		for _, group := range b.groups(c.Scope) {
			if !b.overlap(c, group) {
				return false
			}
		}
		return true
	case *rules.Holders:
		for _, group := range b.groups(c.Scope) {
			if !b.within(float64(b.holders(c, group)), c.Count) {
				return false
			}
		}
		return true
	case *rules.Total:
		for _, group := range b.groups(c.Scope) {
			b.magnitude = 0
			n, _ := b.stat(rules.StatSum, c.Value, group)
			if !b.inside(n, c.Sum, b.magnitude) {
				return false
			}
		}
		return true
	case *rules.Avoid:
		for _, group := range b.groups(c.Scope) {
			if !b.avoids(c, group) {
				return false
			}
		}
		return true
	case *rules.Gap:
		return b.under(c.Max, b.unequal(c))
	case *rules.Compare:
		b.list = b.list[:0]
		left, l := b.numbers(c.Left, region)
		right, r := b.numbers(c.Right, region)
		for i := range paired(left, right) {
			if !c.Op.Holds(left[min(i, len(left)-1)], right[min(i, len(right)-1)], greater(l, r)) {
				return false
			}
		}
		return true
	case *rules.Latency:
		return b.nearby(c, region)
	case *rules.Premade:
		least, on := b.at(c.Players)
		with := 0
		for _, team := range b.teams {
			if n, _ := b.stat(rules.StatParty, "", team); n >= least {
				with++
			}
		}
		return !on || with == 0 || with == len(b.teams)
	}
	return b.logic(need, region)
}

func (b *builder) logic(need rules.Condition, region int) bool {
	count := func(of []rules.Condition) (n int) {
		for _, c := range of {
			if b.holds(c, region) {
				n++
			}
		}
		return n
	}
	switch c := need.(type) {
	case *rules.All:
		return count(c.Of) == len(c.Of)
	case *rules.AnyOf:
		return count(c.Of) > 0
	case *rules.One:
		return count(c.Of) == 1
	case *rules.Not:
		return !b.holds(c.Of, region)
	}
	return false
}

// alike reports whether the players of two tickets, or of one, all have the same.
func (b *builder) alike(c *column, t, o uint32) bool {
	b.comparisons += b.pool.size(t) * b.pool.size(o)
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		for q := b.pool.first[o]; q < b.pool.first[o+1]; q++ {
			if !c.missing(p) && !c.missing(q) && !equal(c, p, q) {
				return false
			}
		}
	}
	return true
}

func equal(c *column, p, q uint32) bool {
	if c.texts != nil {
		return c.texts[p] == c.texts[q]
	}
	return c.numbers[p] == c.numbers[q]
}

// different reports whether no player of a ticket has the same as another of it or of others.
func (b *builder) different(c *column, t uint32, others []uint32) bool {
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		if c.missing(p) || !c.counts(p, b.pool.first[t]) {
			continue
		}
		for i := -1; i < len(others); i++ {
			o, end := t, p
			if i >= 0 {
				o, end = others[i], b.pool.first[others[i]+1]
			}
			b.comparisons += b.pool.size(o)
			for q := b.pool.first[o]; q < end; q++ {
				if !c.missing(q) && c.counts(q, b.pool.first[o]) && equal(c, p, q) {
					return false
				}
			}
		}
	}
	return true
}

// spread reports whether tickets are within a part of a spread.
func (b *builder) spread(c *rules.Spread, group []uint32, part float64) bool {
	column := b.column(c.Value)
	if c.Max.Clock == rules.Own {
		for i, t := range group {
			if !b.spreads(c, t, group[:i], part) {
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

// inCommon is how many elements the sets of all players have in common, and whether there is a set.
func (b *builder) inCommon(c *column, group []uint32) (n int, some bool) {
	var common []uint32
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			set, has := c.set(p)
			if !has {
				continue
			}
			if !some {
				common, some = append(common, set...), true
				continue
			}
			b.comparisons += len(common) * len(set)
			common = slices.DeleteFunc(common, func(e uint32) bool { return !slices.Contains(set, e) })
		}
	}
	return len(common), some
}

func (b *builder) holders(c *rules.Holders, group []uint32) (n int) {
	column := b.column(c.Value)
	element := b.pool.names.numbers[c.Element]
	for _, t := range group {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			if !column.counts(p, b.pool.first[t]) {
				break
			}
			set, _ := column.set(p)
			b.comparisons += len(set)
			if element != 0 && slices.Contains(set, element) {
				n++
			}
		}
	}
	return n
}

// avoids reports whether no player of the tickets is with one to avoid.
func (b *builder) avoids(c *rules.Avoid, group []uint32) bool {
	for _, t := range group {
		if !b.avoidsAny(c, t, group) {
			return false
		}
	}
	return true
}

// avoidsAny reports whether no player of a ticket is to avoid one of others.
func (b *builder) avoidsAny(c *rules.Avoid, t uint32, others []uint32) bool {
	lists, ids := b.column(c.Value), b.column(c.ID)
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		set, has := lists.set(p)
		if !has || len(set) == 0 || !lists.counts(p, b.pool.first[t]) {
			continue
		}
		for _, o := range others {
			b.comparisons += b.pool.size(o) * len(set)
			if owner := b.pool.owners[o]; owner != 0 && o != t && ids.value.From == id && slices.Contains(set, owner) {
				return false
			}
			for q := b.pool.first[o]; q < b.pool.first[o+1]; q++ {
				if p != q && ids.texts[q] != 0 && slices.Contains(set, ids.texts[q]) {
					return false
				}
			}
		}
	}
	return true
}

// avoidedBy reports whether no player of others is to avoid one of a ticket.
func (b *builder) avoidedBy(c *rules.Avoid, t uint32, others []uint32) bool {
	self := []uint32{t}
	for _, o := range others {
		if !b.avoidsAny(c, o, self) {
			return false
		}
	}
	return true
}

func (b *builder) gap(c *rules.Gap) float64 {
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, team := range b.teamsOf(c.Teams) {
		if n, some := b.stat(c.Stat, c.Value, team); some {
			least, greatest = math.Min(least, n), math.Max(greatest, n)
		}
	}
	return greatest - least // without two numbers it is 0 or less
}

// unequal is gap, less what rounding may have added.
func (b *builder) unequal(c *rules.Gap) float64 {
	b.magnitude = 0
	gap := b.gap(c)
	return gap - rounding.Of(b.magnitude)
}

func (b *builder) nearby(c *rules.Latency, region int) bool {
	column := b.column(c.Value)
	var to []float64
	if !b.latencies(column, region, func(_, _ uint32, n float64) bool {
		to = append(to, n)
		return n == n
	}) {
		return false
	}
	from, _ := reduce(rules.StatMin, to)
	if c.From == rules.Average {
		from, _ = reduce(rules.StatAverage, to)
	}
	limit := func(bound *rules.Bound, t uint32, n float64) bool {
		if bound == nil {
			return true
		}
		most, on := b.at(bound)
		if bound.Clock == rules.Own {
			most, on = bound.At(b.pool.age[t])
			b.noteChange(bound, b.pool.age[t])
		}
		return !on || rounding.AtMost(n, most)
	}
	return b.latencies(column, region, func(t, p uint32, n float64) bool {
		best := math.Inf(1)
		for _, v := range column.part(p) {
			best = math.Min(best, v)
		}
		return limit(c.Max, t, n) && limit(c.Over, t, rounding.Apart(best, n)) && limit(c.Apart, t, rounding.Apart(from, n))
	})
}

// latencies calls look with each player's latency to a region, NaN where he does not know it, until it returns false.
func (b *builder) latencies(column *column, region int, look func(t, p uint32, n float64) bool) bool {
	if region < 0 {
		return true // no player has any
	}
	for _, t := range b.chosen {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			if !column.has[p] || !column.counts(p, b.pool.first[t]) {
				continue
			}
			if !look(t, p, column.amount(p, b.pool.regions[region])) {
				return false
			}
		}
	}
	return true
}

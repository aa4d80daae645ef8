package search

import (
	"cmp"
	"math"

	"matchmaker.dev/pkg/matchfn/rules"
)

// pruner is a rule that is closed under removal: what a part of a match violates, the match violates.
type pruner struct {
	need refuser
	// near is set for a spread that is looked at by the span of each ticket.
	near  *spans
	scope rules.Of
	bound *rules.Bound
	// active says when it holds, by the age of the anchor; nil for always.
	active *rules.Bound
}

// fastChecks is how a rule is looked at in a complete match, if there is a quicker way than to look at all players.
type fastCheck struct {
	pruner int  // a pruner with spans, or -1
	key    bool // whether tickets of a group of the line have the same
	limit  *reachLimit
}

// spans are the least and the greatest number of each ticket. Without any, the least is the greater.
type spans struct {
	column    *column
	low, high []float64
}

func (of *spans) extend(p *pool) {
	for t := len(of.low); t < p.tickets(); t++ {
		low, high := span(p, of.column, uint32(t))
		of.low, of.high = append(of.low, low), append(of.high, high)
	}
}

// findPruners takes the rules apart: keys, pruners, and others, which are looked at in whole matches only.
func (s *search) findPruners() {
	known := map[string]*spans{}
	s.fastChecks = make([]fastCheck, len(s.all))
	for i, rule := range s.all {
		s.fastChecks[i].pruner = -1
		if rule.Active != nil && !s.byAnchor(rule.Active) {
			continue // unknown before the match is complete
		}
		need, is := rule.is.(refuser)
		if !is {
			continue
		}
		scope, refuses, _ := need.compares()
		g := pruner{need: need, scope: scope, active: rule.Active}
		if rule.Active != nil {
			s.addPruner(g, refuses)
			continue
		}
		switch c := rule.Need.(type) {
		case *rules.Same:
			if s.key(c) {
				s.fastChecks[i].key = true
				continue
			}
		case *rules.Overlap:
			if singleTicketDecides(c) {
				continue
			}
		case *rules.Spread:
			g.bound = c.Max
			if c.Max.Clock != rules.Own && (g.scope == rules.InMatch || g.scope == rules.BesideAnchor) {
				if known[c.Value] == nil {
					known[c.Value] = &spans{column: s.column(c.Value)}
					s.spans = append(s.spans, known[c.Value])
				}
				g.near = known[c.Value]
				s.fastChecks[i].pruner = len(s.pruners)
			}
		}
		s.addPruner(g, refuses)
	}
}

// addPruner adds a pruner, if it refuses tickets.
func (s *search) addPruner(g pruner, refuses bool) {
	if refuses && g.scope != rules.InTeams {
		s.pruners = append(s.pruners, g)
	}
}

// byAnchor reports whether a bound follows the age of the anchor, whatever joins it.
func (s *search) byAnchor(b *rules.Bound) bool {
	return b.Constant() || b.Clock == rules.Anchor || b.Clock == rules.Oldest && s.rules.Priority == ""
}

// keyed is a value that all players of a match must have in common, with the keys that it gives to tickets of a key.
type keyed struct {
	column  *column
	numbers map[[2]uint64]uint32
}

// key tells tickets apart by what must be the same in every match. It returns false for what does not tell.
func (s *search) key(c *rules.Same) bool {
	column := s.column(c.Value)
	if c.Different || c.Scope.Of == rules.InTeam || c.Scope.Of == rules.InTeams || column.value.Missing == rules.Any {
		return false
	}
	s.keyed = append(s.keyed, &keyed{column, map[[2]uint64]uint32{}})
	return true
}

// extendKeys gives keys to tickets. No match can have a ticket whose players differ.
func (s *search) extendKeys() {
	for t := uint32(len(s.keys)); int(t) < s.pool.tickets(); t++ {
		key, torn := uint32(0), false
		first, end := s.pool.first[t], s.pool.first[t+1]
		for _, k := range s.keyed {
			for p := first + 1; p < end; p++ {
				torn = torn || !equal(k.column, first, p)
			}
			var of uint64
			if k.column.texts != nil {
				of = uint64(k.column.texts[first])
			} else {
				of = math.Float64bits(k.column.numbers[first] + 0)
			}
			pair := [2]uint64{uint64(key), of}
			number, known := k.numbers[pair]
			if !known {
				number = uint32(len(k.numbers))
				k.numbers[pair] = number
			}
			key = number
		}
		s.keys, s.torn = append(s.keys, key), append(s.torn, torn)
	}
}

// findMain finds the value by which tickets are near: of the first spread, or else of the first gap or odds, of the
// order, or of the preferences.
func (s *search) findMain() {
	var name, gap string
	for _, rule := range s.all {
		switch c := rule.Need.(type) {
		case *rules.Spread:
			name = cmp.Or(name, c.Value)
		case *rules.Gap:
			gap = cmp.Or(gap, c.Value)
		case *rules.Compare:
			if odds, _, _ := rules.BoundedOdds(c); odds != nil {
				gap = cmp.Or(gap, odds.Value)
			}
		}
	}
	name = cmp.Or(name, gap)
	for _, o := range s.rules.Order {
		if o.Near && o.Key == "" && o.KeyOf == "" {
			name = cmp.Or(name, o.Value)
		}
	}
	for _, p := range s.rules.Prefer {
		name = cmp.Or(name, s.numberIn(p.Amount))
	}
	if s.main = s.column(name); s.main != nil && s.main.numbers == nil {
		s.main = nil
	}
}

// extendValues computes by what tickets are near: the mean of their players, or else when they were created.
func (s *search) extendValues() {
	if s.main == nil {
		s.values = append(s.values, s.pool.created[len(s.values):]...)
		return
	}
	for t := len(s.values); t < s.pool.tickets(); t++ {
		value := mergeNumbers(rules.Average, s.main.numbers[s.pool.first[t]:s.pool.first[t+1]])
		if value != value {
			value = 0
		}
		s.values = append(s.values, value)
	}
}

// numberIn returns the first number of players that an expression is about, or nothing.
func (s *search) numberIn(e rules.Expression) (name string) {
	mentions(e, func(e rules.Expression) bool {
		switch e := e.(type) {
		case *rules.StatOf:
			if c := s.column(e.Value); c != nil && c.numbers != nil {
				name = e.Value
			}
		case *rules.OddsOf:
			name = e.Value
		}
		return name != ""
	})
	return name
}

// isLate reports whether an expression or a condition may depend on the region, or on the roles that are given.
func isLate(p rules.Preference) bool {
	if p.Need != nil {
		_, premade := p.Need.(*rules.Premade)
		return !premade
	}
	return mentions(p.Amount, func(e rules.Expression) bool {
		switch e.(type) {
		case *rules.LatencyOf, *rules.Reluctance:
			return true
		}
		return false
	})
}

// mentions reports whether an expression is one, or has one in it, that is asked for. It asks until one is.
func mentions(e rules.Expression, is func(rules.Expression) bool) (found bool) {
	rules.WalkExpression(e, func(e rules.Expression) { found = found || is(e) })
	return found
}

// loosestUntil returns the greatest number that a bound has up to an age, infinite if it is off at one.
func loosestUntil(b *rules.Bound, age float64) float64 {
	_, n, off := b.Over(0, age)
	if off {
		return math.Inf(1)
	}
	return n
}

// ever returns the greatest that a bound can ever be, as a number of players or teams.
func ever(b *rules.Bound) int { return int(math.Min(loosestUntil(b, math.Inf(1)), rules.MaxPlayers)) }

// atLeast returns the least that a bound can ever be, as a number of players or teams.
func atLeast(b *rules.Bound) int {
	least, _, off := b.Over(0, math.Inf(1))
	if off || least < 0 || math.IsInf(least, 1) {
		return 0
	}
	return int(math.Ceil(least))
}

// atMost is ever for a bound that may be negative.
func atMost(b *rules.Bound) int { return max(0, ever(b)) }

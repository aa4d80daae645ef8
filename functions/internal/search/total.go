package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// sum is a rules.Total.
type sum rules.Total

func (c *sum) holds(b *builder, _ int) bool {
	return every(b.groups(c.Scope), func(group []uint32) bool {
		b.magnitude = 0
		n, _ := b.stat(rules.StatSum, c.Value, group)
		return b.inside(n, c.Sum, b.magnitude)
	})
}

// total is a sum that must be met, and what each ticket adds to it. A sum may be too little in a part of a match and
// right in the complete one. But an excess stays if no ticket subtracts; and what is lacking must come from the tickets
// that may still join, in the places that are left. The number of players with an element is such a sum, too.
type total struct {
	need    *rules.Total
	column  *column
	element string    // that players must have to count; empty for a sum of numbers
	adds    []float64 // of each ticket
}

func (s *search) findTotals() {
	for i := range s.all {
		if c, element := totalOf(s.all[i].Need); c != nil && s.all[i].Active == nil && c.Scope.Of != rules.BesideAnchor {
			s.totals = append(s.totals, &total{need: c, column: s.column(c.Value), element: element})
		}
	}
}

// overloaded finds the tickets that no team can have, as they alone add too much to a total that no ticket reduces: a
// party of two tanks where roles are numbers.
func (s *search) overloaded() {
	if len(s.totals) == 0 {
		return
	}
	most := make([]float64, len(s.totals))
	for k, o := range s.totals {
		n := loosestUntil(o.need.Sum.Max, math.Inf(1))
		most[k] = n + slack*(1+math.Abs(n))
		for t, adds := range o.adds {
			if adds < 0 && !s.pool.gone[t] {
				most[k] = math.Inf(1)
				break
			}
		}
	}
	for t := range s.pool.waiting {
		suits := false
		for i := range s.rules.Teams {
			fits := true
			for k, o := range s.totals {
				fits = fits && (o.adds[t] <= most[k] || o.need.Scope.Of == rules.InTeams &&
					!slices.Contains(o.need.Scope.Teams, s.rules.Teams[i].Name))
			}
			suits = suits || fits
		}
		s.taken[t] = s.taken[t] || !suits
	}
}

func (o *total) extend(p *pool) {
	element := p.names.numbers[o.element]
	for t := len(o.adds); t < p.tickets(); t++ {
		sum, first := 0.0, p.first[t]
		for player := first; player < p.first[t+1]; player++ {
			if !o.column.counts(player, first) {
				break
			}
			if o.element != "" {
				if set, _ := o.column.set(player); element != 0 && slices.Contains(set, element) {
					sum++
				}
			} else if v := o.column.numbers[player]; v == v {
				sum += v
			}
		}
		o.adds = append(o.adds, sum)
	}
}

// sums is how far the totals of a match are that grows.
type sums struct {
	// of is the sums by total and team. least and most bound them, as loosely as they may be.
	of, least, most []float64
	// grows is set for a total that no candidate makes less. gain is the most that a candidate adds to it for each of its
	// players, and gains the most that one adds to all that are for teams, each as a part of its gain.
	grows []bool
	gain  []float64
	gains float64
	// later is what the candidates from each on add.
	later []float64
	saved []float64
}

// slack is more than the error of a sum, as a part of it.
const slack = 1e-9

// beginSums finds what the totals of a match with the anchor may be.
func (b *builder) beginSums() {
	s := &b.sums
	s.least, s.most = s.least[:0], s.most[:0]
	for _, o := range b.totals {
		least, most := b.loosestRange(o.need.Sum)
		s.least = append(s.least, least-slack*(1+math.Abs(least)))
		s.most = append(s.most, most+slack*(1+math.Abs(most)))
	}
}

// candidateSums looks at what the candidates add.
func (b *builder) candidateSums() {
	s, n := &b.sums, len(b.totals)
	s.grows, s.gain, s.gains = s.grows[:0], s.gain[:0], 0
	s.later = append(s.later[:0], make([]float64, n*(len(b.candidates)+1))...)
	for k, o := range b.totals {
		grows, gain := true, 0.0
		for j := len(b.candidates) - 1; j >= 0; j-- {
			t := b.candidates[j]
			adds := o.adds[t]
			grows, gain = grows && adds >= 0, greater(gain, adds/float64(b.pool.size(t)))
			s.later[n*j+k] = s.later[n*(j+1)+k] + greater(0, adds)
		}
		s.grows, s.gain = append(s.grows, grows), append(s.gain, gain)
	}
	for _, t := range b.candidates {
		parts := 0.0
		for k, o := range b.totals {
			if o.need.Scope.Of != rules.InMatch && s.gain[k] > 0 {
				parts += greater(0, o.adds[t]) / s.gain[k]
			}
		}
		s.gains = greater(s.gains, parts/float64(b.pool.size(t)))
	}
}

// sumOf returns which sum a total has that a ticket of a team adds to; false for none.
func (b *builder) sumOf(k, team int) (int, bool) {
	o := b.totals[k]
	switch o.need.Scope.Of {
	case rules.InMatch:
		return k * len(b.teams), true
	case rules.InTeams:
		if o.need.Scope.Teams != nil &&
			!slices.Contains(o.need.Scope.Teams, b.rules.Teams[b.arranged.shapes[team]].Name) {
			return 0, false
		}
	}
	return k*len(b.teams) + team, true
}

// sumsFit reports whether the totals can still be met when a ticket joins a team. If other tickets must be in the
// match, they decide.
func (b *builder) sumsFit(team int, t uint32, size int) bool {
	if len(b.must) > 0 {
		return true
	}
	s := &b.sums
	left := float64(b.arranged.limits[team] - b.players[team] - size)
	all := float64(b.top - b.total - size)
	parts := 0.0
	for k, o := range b.totals {
		at, ok := b.sumOf(k, team)
		if !ok {
			continue
		}
		sum := s.of[at] + o.adds[t]
		if s.grows[k] && sum > s.most[k] {
			return false
		}
		lacks := s.least[k] - sum
		if lacks <= 0 {
			continue
		}
		room := left
		if o.need.Scope.Of == rules.InMatch {
			room = all
		}
		if lacks > s.gain[k]*room {
			return false
		}
		if o.need.Scope.Of != rules.InMatch {
			parts += lacks / s.gain[k]
		}
	}
	b.work -= len(b.totals) / 4
	return parts <= s.gains*left*(1+slack)
}

// sumsLack reports whether the candidates from one on add too little to the totals.
func (b *builder) sumsLack(from int) bool {
	if len(b.must) > 0 {
		return false
	}
	s, n := &b.sums, len(b.totals)
	for k, o := range b.totals {
		lacks := 0.0
		for team := range b.teams {
			at, ok := b.sumOf(k, team)
			if !ok {
				continue
			}
			one, room := greater(0, s.least[k]-s.of[at]), b.arranged.limits[team]-b.players[team]
			if lacks += one; o.need.Scope.Of == rules.InMatch {
				room = b.top - b.total
			}
			if one > s.gain[k]*float64(room)*(1+slack) {
				return true
			}
			if o.need.Scope.Of == rules.InMatch {
				break
			}
		}
		if lacks > s.later[n*from+k]*(1+slack) {
			return true
		}
	}
	return false
}

// addSums adds a ticket of a team to the totals, and returns what restores them.
func (b *builder) addSums(team int, t uint32) (before int) {
	s := &b.sums
	before = len(s.saved)
	for k, o := range b.totals {
		if at, ok := b.sumOf(k, team); ok {
			s.saved = append(s.saved, s.of[at])
			s.of[at] += o.adds[t]
		}
	}
	return before
}

func (b *builder) restoreSums(team, before int) {
	s, at := &b.sums, before
	for k := range b.totals {
		if of, ok := b.sumOf(k, team); ok {
			s.of[of] = s.saved[at]
			at++
		}
	}
}

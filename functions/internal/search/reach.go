package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// reachLimit is a rule about latency, and what it is about.
type reachLimit struct {
	need *rules.Latency
	*latencies
	// most and over are the loosest bounds of the anchor, unless each ticket has its own.
	most, over float64
	// levels are the regions that tickets reach within bounds that are the same for many anchors; level is the anchor's,
	// nil for none. They are inverted, so that 0 means unknown.
	levels map[[2]float64][]uint64
	level  []uint64
	at     [2]float64 // the bounds of level
}

// latencies are, for each ticket and region, the greatest latency of its players and how far that is above their least.
// It is NaN where a player does not know the region.
type latencies struct {
	column       *column
	worst, above []float64
	over         bool // whether above is needed
}

// levels bounds for how many pairs of bounds it is known what tickets reach.
const levels = 8

// findReach finds the rules about latencies.
func (s *search) findReach() {
	if s.column(s.rules.RegionValue) == nil {
		return
	}
	s.masks = []uint64{}
	tables := map[string]*latencies{}
	table := func(value string, over bool) *latencies {
		if tables[value] == nil {
			tables[value] = &latencies{column: s.column(value)}
			s.tables = append(s.tables, tables[value])
		}
		tables[value].over = tables[value].over || over
		return tables[value]
	}
	table(s.rules.RegionValue, false) // the first
	for i := range s.all {
		c, ok := s.all[i].Need.(*rules.Latency)
		if !ok || s.all[i].Active != nil || c.Max == nil && c.Over == nil || s.column(c.Value) == nil {
			continue
		}
		limit := &reachLimit{need: c, latencies: table(c.Value, c.Over != nil)}
		s.limits = append(s.limits, limit)
		if c.Apart == nil {
			s.fastChecks[i].limit = limit
		}
	}
}

// extendReach finds which regions tickets know, and how well they reach them.
func (s *search) extendReach() {
	if s.masks == nil {
		return
	}
	if !slices.Equal(s.regions, s.pool.regions) {
		s.regions, s.order, s.aligned = s.pool.regions, nil, nil
		s.masks, s.here = s.masks[:0], s.here[:0]
		names := uint32(0)
		for _, name := range s.regions {
			names = max(names, name+1)
		}
		s.regionOf = make([]uint8, names)
		for i, name := range s.regions {
			s.regionOf[name] = uint8(i + 1)
		}
		for _, of := range s.tables {
			of.worst, of.above = of.worst[:0], of.above[:0]
		}
	}
	for _, of := range s.tables {
		s.extendLatencies(of, len(s.masks))
	}
	regions, column := len(s.regions), s.tables[0].column
	for t := len(s.masks); t < s.pool.tickets(); t++ {
		mask, here := ^uint64(0), s.located(uint32(t), column)
		if here {
			for i, n := range s.tables[0].worst[t*regions : (t+1)*regions] {
				if n != n {
					mask &^= 1 << i
				}
			}
			if regions < MaxRegions {
				mask &= 1<<regions - 1
			}
		}
		s.masks, s.here = append(s.masks, mask), append(s.here, here)
	}
}

// cutReach takes the tickets from one on away.
func (s *search) cutReach(tickets int) {
	if s.masks == nil {
		return
	}
	s.masks, s.here = s.masks[:tickets], s.here[:tickets]
	for _, of := range s.tables {
		if of.worst = of.worst[:tickets*len(s.regions)]; of.over {
			of.above = of.above[:len(of.worst)]
		}
	}
}

// located reports whether a player of a ticket has latencies.
func (s *search) located(t uint32, column *column) bool {
	for p := s.pool.first[t]; p < s.pool.first[t+1]; p++ {
		if column.has[p] {
			return true
		}
	}
	return false
}

// extendLatencies computes the latencies of tickets from one on.
func (s *search) extendLatencies(of *latencies, from int) {
	c, regions := of.column, len(s.regions)
	known := make([]float64, regions)
	for t := from; t < s.pool.tickets(); t++ {
		at := len(of.worst)
		for range regions {
			of.worst = append(of.worst, math.Inf(-1))
			if of.over {
				of.above = append(of.above, math.Inf(-1))
			}
		}
		row := of.worst[at:]
		for p := s.pool.first[t]; p < s.pool.first[t+1]; p++ {
			if !c.has[p] {
				continue
			}
			for i := range known {
				known[i] = math.NaN()
			}
			best := math.Inf(1)
			for i := c.starts[p]; i < c.starts[p+1]; i++ {
				if c.amounts[i] < best {
					best = c.amounts[i]
				}
				if name := c.items[i]; name < uint32(len(s.regionOf)) && s.regionOf[name] > 0 {
					known[s.regionOf[name]-1] = c.amounts[i]
				}
			}
			for i, n := range known {
				if !(n <= row[i]) && row[i] == row[i] {
					row[i] = n
				}
				if of.over {
					apart := rounding.Apart(best, n)
					if above := &of.above[at+i]; !(apart <= *above) && *above == *above {
						*above = apart
					}
				}
			}
		}
	}
}

// boundLatencies computes the bounds of the anchor.
func (b *builder) boundLatencies() {
	for _, l := range b.limits {
		l.most, l.over = b.farthest(l.need.Max), b.farthest(l.need.Over)
		if l.own() {
			continue
		}
		key := [2]float64{l.most, l.over}
		if l.level != nil && l.at == key {
			continue
		}
		l.at, l.level = key, l.levels[key]
		if l.level == nil && len(l.levels) < levels {
			l.level = make([]uint64, len(b.masks))
			l.levels[key] = l.level
		}
	}
}

// own reports whether each ticket has its own bounds.
func (l *reachLimit) own() bool {
	return l.need.Max != nil && l.need.Max.Clock == rules.Own || l.need.Over != nil && l.need.Over.Clock == rules.Own
}

// farthest is the loosest that a bound of a latency may be.
func (b *builder) farthest(bound *rules.Bound) float64 {
	if bound == nil || bound.Clock == rules.Own {
		return math.Inf(1)
	}
	b.noteLoosest(bound)
	return b.loosest(bound)
}

// reach returns the regions that all players of a ticket reach, with the loosest bounds.
func (b *builder) reach(t uint32) uint64 {
	mask := b.masks[t]
	for _, l := range b.limits {
		if mask == 0 {
			break
		}
		if l.level == nil {
			mask &= b.reaches(l, t)
			continue
		}
		level := l.level[t]
		if level == 0 {
			level = ^b.reaches(l, t)
			l.level[t] = level
		}
		mask &^= level
	}
	return mask
}

// reaches returns the regions that all players of a ticket reach within a limit.
func (b *builder) reaches(l *reachLimit, t uint32) uint64 {
	return b.regionsWithin(l, t, b.ownOr(l.need.Max, t, l.most), b.ownOr(l.need.Over, t, l.over))
}

// ownOr is a bound of a ticket's own age, whose change it notes, or the number that goes for all tickets.
func (b *builder) ownOr(bound *rules.Bound, t uint32, forAll float64) float64 {
	if bound == nil || bound.Clock != rules.Own {
		return forAll
	}
	b.noteChange(bound, b.pool.age[t])
	return own(bound, b.pool.age[t])
}

// regionsWithin returns the regions to which a ticket's latencies are at most so much, and so much over the least.
func (s *search) regionsWithin(l *reachLimit, t uint32, most, over float64) uint64 {
	mask := ^uint64(0)
	regions := len(s.regions)
	if !math.IsInf(most, 1) || !math.IsInf(over, 1) {
		most, over = most+rounding.Of(most), over+rounding.Of(over)
		for i, n := range l.worst[int(t)*regions : (int(t)+1)*regions] {
			if !(n <= most) {
				mask &^= 1 << i
			}
		}
		if l.above != nil {
			for i, n := range l.above[int(t)*regions : (int(t)+1)*regions] {
				if !(n <= over) {
					mask &^= 1 << i
				}
			}
		}
	}
	return mask
}

// own is a bound of a ticket's own age, infinite if it is off.
func own(bound *rules.Bound, age float64) float64 {
	n, on := bound.At(age)
	if !on {
		return math.Inf(1)
	}
	return n
}

package search

import (
	"math"

	"matchmaker.dev/pkg/matchfn/rules"
)

// reachLimit is a rule about latency, and what it is about: for each ticket and region, the greatest latency of its
// players and how far that is above their least. It is NaN where a player does not know the region.
type reachLimit struct {
	need         *rules.Latency
	worst, above []float64
	// most and over are the loosest bounds of the anchor, unless each ticket has its own.
	most, over float64
	// levels are the regions that tickets reach within bounds that are the same for many anchors; level is that of the
	// anchor, nil for none.
	levels map[[2]float64][]uint64
	level  []uint64
	at     [2]float64 // the bounds of level
}

// levels bounds for how many pairs of bounds it is known what tickets reach.
const levels = 8

// findReach finds which regions tickets know, and how well they reach them.
func (s *search) findReach() {
	column := s.column(s.rules.RegionValue)
	if column == nil {
		return
	}
	s.masks = make([]uint64, s.pool.tickets())
	tables := map[string]*reachLimit{}
	table := func(value string, above bool) *reachLimit {
		known := tables[value]
		if known == nil || above && known.above == nil {
			known = s.latencies(s.column(value), above)
			tables[value] = known
		}
		return known
	}
	regions := len(s.pool.regions)
	worst := table(s.rules.RegionValue, false).worst
	s.latency, s.here = worst, make([]bool, s.pool.tickets())
	for t := range s.masks {
		s.masks[t] = ^uint64(0)
		for i, n := range worst[t*regions : (t+1)*regions] {
			if n != n {
				s.masks[t] &^= 1 << i
			}
		}
		if s.here[t] = s.located(uint32(t), column); !s.here[t] {
			s.masks[t] = ^uint64(0)
		} else if regions < MaxRegions {
			s.masks[t] &= 1<<regions - 1
		}
	}
	for i := range s.all {
		c, ok := s.all[i].Need.(*rules.Latency)
		if !ok || s.all[i].Active != nil || c.Max == nil && c.Over == nil || s.column(c.Value) == nil {
			continue
		}
		of := table(c.Value, c.Over != nil)
		limit := &reachLimit{
			need: c, worst: of.worst, above: of.above, levels: map[[2]float64][]uint64{},
		}
		s.limits = append(s.limits, limit)
		if c.Apart == nil {
			s.quick[i].limit = limit
		}
	}
}

// located returns whether a player of a ticket has latencies.
func (s *search) located(t uint32, column *column) bool {
	for p := s.pool.first[t]; p < s.pool.first[t+1]; p++ {
		if column.has[p] {
			return true
		}
	}
	return false
}

func (s *search) latencies(c *column, above bool) *reachLimit {
	regions := len(s.pool.regions)
	numbers := make([]int, len(s.pool.names.texts)+1) // of regions by name, from 1
	for i, name := range s.pool.regions {
		numbers[name] = i + 1
	}
	of := &reachLimit{worst: make([]float64, s.pool.tickets()*regions)}
	if above {
		of.above = make([]float64, len(of.worst))
	}
	known := make([]float64, regions)
	for t := range s.pool.age {
		row := of.worst[t*regions : (t+1)*regions]
		for i := range row {
			row[i] = math.Inf(-1)
			if above {
				of.above[t*regions+i] = math.Inf(-1)
			}
		}
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
				if number := numbers[c.items[i]]; number > 0 {
					known[number-1] = c.amounts[i]
				}
			}
			for i, n := range known {
				if !(n <= row[i]) && row[i] == row[i] {
					row[i] = n
				}
				if above {
					if at := &of.above[t*regions+i]; !(n-best <= *at) && *at == *at {
						*at = n - best
					}
				}
			}
		}
	}
	return of
}

// approach computes the bounds of the anchor.
func (b *builder) approach() {
	for _, l := range b.limits {
		l.most, l.over = b.farthest(l.need.Max), b.farthest(l.need.Over)
		key := [2]float64{l.most, l.over}
		if l.level != nil && l.at == key {
			continue
		}
		l.at, l.level = key, l.levels[key]
		if l.level == nil && len(l.levels) < levels {
			l.level = b.everywhere(l)
			l.levels[key] = l.level
		}
	}
}

// farthest is the loosest that a bound of a latency may be.
func (b *builder) farthest(bound *rules.Bound) float64 {
	if bound == nil || bound.Clock == rules.Own {
		return math.Inf(1)
	}
	return b.loosest(bound)
}

// reach returns the regions that all players of a ticket reach, with the loosest bounds.
func (b *builder) reach(t uint32) uint64 {
	mask := b.masks[t]
	for _, l := range b.limits {
		if l.level != nil {
			mask &= l.level[t]
		} else if mask != 0 {
			mask &= b.reaches(l, t)
		}
	}
	return mask
}

// everywhere returns the regions that each ticket reaches within a limit.
func (b *builder) everywhere(l *reachLimit) []uint64 {
	masks := make([]uint64, len(b.masks))
	for t := range masks {
		masks[t] = b.reaches(l, uint32(t))
	}
	b.work -= len(masks) / 8
	return masks
}

// reaches returns the regions that all players of a ticket reach within a limit.
func (b *builder) reaches(l *reachLimit, t uint32) uint64 {
	most, over := l.most, l.over
	if bound := l.need.Max; bound != nil && bound.Clock == rules.Own {
		most = own(bound, b.pool.age[t])
	}
	if bound := l.need.Over; bound != nil && bound.Clock == rules.Own {
		over = own(bound, b.pool.age[t])
	}
	b.work--
	return b.regionsWithin(l, t, most, over)
}

// regionsWithin returns the regions to which a ticket's latencies are at most so much, and so much over the least.
func (s *search) regionsWithin(l *reachLimit, t uint32, most, over float64) uint64 {
	mask := ^uint64(0)
	regions := len(s.pool.regions)
	if !math.IsInf(most, 1) || !math.IsInf(over, 1) {
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

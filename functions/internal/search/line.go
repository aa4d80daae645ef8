package search

import (
	"cmp"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
)

// anchors returns all tickets that may be in a match: those with the greatest priority first, then the oldest.
func (s *search) anchors() []uint32 {
	less := make([]float64, s.pool.tickets())
	for t, age := range s.pool.age {
		less[t] = -age
	}
	order := matchfn.SortBy(less)
	if column := s.column(s.rules.Priority); column != nil {
		first := make([]float64, len(order))
		for i, t := range order {
			first[i] = -s.priority(column, t)
		}
		by := matchfn.SortBy(first)
		for i, at := range by {
			by[i] = order[at]
		}
		order = by
	}
	return slices.DeleteFunc(order, func(t uint32) bool {
		return s.taken[t] || s.pool.size(t) > s.most || s.masks != nil && s.masks[t] == 0
	})
}

// priority is the greatest of a ticket's players.
func (s *search) priority(column *column, t uint32) float64 {
	most := math.Inf(-1)
	for p := s.pool.first[t]; p < s.pool.first[t+1]; p++ {
		if v := column.numbers[p]; v > most {
			most = v
		}
	}
	return most
}

// line is the tickets that are left, in the order of sorted. Tickets of different keys are apart.
type line struct{ up, down []int32 } // by place; -1 for none

func (l *line) remove(place uint32) {
	up, down := l.up[place], l.down[place]
	if down >= 0 {
		l.up[down] = up
	}
	if up >= 0 {
		l.down[up] = down
	}
}

// align sorts tickets by key and value.
func (s *search) align(tickets []uint32) {
	byValue := matchfn.SortPool(tickets, s.values)
	keys := make([]float64, len(byValue))
	for i, t := range byValue {
		keys[i] = float64(s.keys[t])
	}
	s.sorted = make([]uint32, len(byValue))
	s.place = make([]uint32, s.pool.tickets())
	s.line = line{make([]int32, len(byValue)), make([]int32, len(byValue))}
	for i, at := range matchfn.SortBy(keys) {
		t := byValue[at]
		s.sorted[i], s.place[t] = t, uint32(i)
		s.line.up[i], s.line.down[i] = -1, -1
		if i > 0 && s.keys[s.sorted[i-1]] == s.keys[t] {
			s.line.up[i-1], s.line.down[i] = int32(i), int32(i-1)
		}
	}
}

// near returns the nearest tickets that may be in a match with an anchor. All that are left come after it as anchors.
func (s *search) near(anchor uint32, limit int) []uint32 {
	b := s.b
	b.pair(anchor)
	near := b.near[:0]
	far := b.far()
	b.distant = far
	down, up := s.line.down[s.place[anchor]], s.line.up[s.place[anchor]]
	steps := 8 * limit
	at := s.values[anchor]
	below, above := s.gap(at, down), s.gap(at, up)
	for len(near) < limit && steps > 0 {
		next := down
		if down < 0 || up >= 0 && above < below {
			next = up
		}
		if next < 0 || next == down && below > far || next != down && above > far {
			break
		}
		if next == down {
			down = s.line.down[down]
			below = s.gap(at, down)
		} else {
			up = s.line.up[up]
			above = s.gap(at, up)
		}
		steps--
		t := s.sorted[next]
		if b.simple && s.masks == nil {
			if b.inSpans(t) {
				near = append(near, t)
			}
		} else if b.beside(t) {
			near = append(near, t)
		}
	}
	s.work -= 8*limit - steps
	b.near = near
	s.inOrder(anchor, near)
	return near
}

// gap is how far a place of the line is from a value.
func (s *search) gap(at float64, place int32) float64 {
	if place < 0 {
		return math.Inf(1)
	}
	if v := s.values[s.sorted[place]] - at; v >= 0 {
		return v
	}
	return at - s.values[s.sorted[place]]
}

// inSpans returns whether a ticket is within all spreads, if they are all that there is to look at.
func (b *builder) inSpans(t uint32) bool {
	for i := range b.guards {
		near := b.guards[i].near
		low, high := b.low[i], b.high[i]
		if v := near.low[t]; v < low {
			low = v
		}
		if v := near.high[t]; v > high {
			high = v
		}
		if high-low > b.bounds[i] {
			return false
		}
	}
	return true
}

// far returns beyond which distance to the anchor no ticket can be in a match with it.
func (b *builder) far() float64 {
	if b.main == nil || b.main.value.Missing == rules.Any {
		return math.Inf(1)
	}
	return b.widest() * b.narrow
}

// widest is the distance in the value by which tickets are near that the rules allow in a match with the anchor.
func (b *builder) widest() float64 {
	far := math.Inf(1)
	for _, rule := range b.all {
		c, ok := rule.Need.(*rules.Spread)
		if !ok || rule.Active != nil || c.Value != b.main.value.Name {
			continue
		}
		if c.Scope.Of != rules.InMatch && c.Scope.Of != rules.BesideAnchor {
			continue
		}
		// The value of a party is a mean here, and some of its players may be nearer to one of the anchor's: but not all.
		most := math.Inf(1)
		if c.Max.Clock != rules.Own {
			most = b.loosest(c.Max)
		} else if n, on := c.Max.At(b.pool.age[b.anchor]); on {
			most = n
		}
		far = math.Min(far, most)
	}
	return far
}

// inOrder sorts candidates as the rules say.
func (s *search) inOrder(anchor uint32, candidates []uint32) {
	type entry struct {
		ticket uint32
		by     float64
	}
	var entries []entry
	for i := len(s.rules.Order) - 1; i >= 0; i-- {
		o := &s.rules.Order[i]
		of := s.orderOf(o, anchor)
		at := of(anchor)
		entries = entries[:0]
		for _, t := range candidates {
			n := of(t)
			if o.Near {
				n = math.Abs(n - at)
			}
			if o.Descending {
				n = -n
			}
			if n != n {
				n = math.Inf(1)
			}
			entries = append(entries, entry{t, n})
		}
		slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.by, b.by) })
		for j := range entries {
			candidates[j] = entries[j].ticket
		}
	}
}

// orderOf returns the number of a ticket in an order: the mean of its players, NaN without.
func (s *search) orderOf(o *rules.Order, anchor uint32) func(t uint32) float64 {
	c := s.column(o.Value)
	number := func(p uint32) float64 { return c.numbers[p] }
	if c.value.Kind == rules.Map {
		name := s.pool.names.numbers[o.Key]
		if o.KeyOf != "" {
			name = s.keyOf(o.KeyOf, c, anchor)
		}
		number = func(p uint32) float64 { return c.amount(p, name) }
	}
	return func(t uint32) float64 {
		sum, n := 0.0, 0.0
		for p := s.pool.first[t]; p < s.pool.first[t+1]; p++ {
			if v := number(p); v == v {
				sum, n = sum+v, n+1
			}
		}
		return sum / n
	}
}

// keyOf returns the name with the least or the greatest number of a ticket's players.
func (s *search) keyOf(how rules.Merge, c *column, t uint32) (name uint32) {
	best := math.Inf(1)
	for p := s.pool.first[t]; p < s.pool.first[t+1]; p++ {
		for i := c.starts[p]; i < c.starts[p+1]; i++ {
			n := c.amounts[i]
			if how == rules.Greatest {
				n = -n
			}
			if n < best || n == best && s.pool.names.texts[c.items[i]] < s.pool.names.texts[name] {
				best, name = n, c.items[i]
			}
		}
	}
	return name
}

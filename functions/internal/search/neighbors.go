package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"sort"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// anchors returns all tickets that may be in a match: the greatest priority first, then the oldest.
func (s *search) anchors() []uint32 {
	if s.order != nil {
		return s.merged(s.order, s.sooner)
	}
	order := make([]uint32, 0, s.pool.waiting)
	for t := range uint32(s.pool.waiting) {
		if s.eligible(t) {
			order = append(order, t)
		}
	}
	order = matchfn.SortPool(order, s.pool.created)
	if column := s.column(s.rules.Priority); column != nil {
		first := make([]float64, len(order))
		for i, t := range order {
			first[i] = -s.priority(column, t)
		}
		order = sortedBy(order, first)
	}
	return order
}

// eligible reports whether a ticket may be in a match at all.
func (s *search) eligible(t uint32) bool {
	return !s.taken[t] && s.pool.size(t) <= s.most && (s.masks == nil || s.masks[t] != 0)
}

// merged is tickets in an order, without the taken and with the new ones. These are sorted for it.
func (s *search) merged(tickets []uint32, compare func(a, b uint32) int) []uint32 {
	more := slices.DeleteFunc(slices.Clone(s.fresh), func(t uint32) bool { return !s.eligible(t) })
	slices.SortFunc(more, compare)
	all, at := make([]uint32, 0, len(tickets)+len(more)), 0
	appendLeft := func(until int) {
		for _, t := range tickets[at:until] {
			if !s.taken[t] {
				all = append(all, t)
			}
		}
		at = until
	}
	for _, t := range more {
		appendLeft(at + sort.Search(len(tickets)-at, func(i int) bool { return compare(t, tickets[at+i]) < 0 }))
		all = append(all, t)
	}
	appendLeft(len(tickets))
	return all
}

// sooner compares tickets in the order of anchors.
func (s *search) sooner(t, o uint32) int {
	if column := s.column(s.rules.Priority); column != nil {
		if c := cmp.Compare(s.priority(column, o), s.priority(column, t)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(s.pool.created[t], s.pool.created[o]), cmp.Compare(t, o))
}

// nearer compares tickets in the order of the line.
func (s *search) nearer(t, o uint32) int {
	return cmp.Or(cmp.Compare(s.keys[t], s.keys[o]), cmp.Compare(s.values[t]+0, s.values[o]+0), s.sooner(t, o))
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

// neighbors is the tickets that are left, in the order of sorted. Tickets of different keys are apart.
type neighbors struct {
	up, down []int32   // by place; -1 for none
	values   []float64 // of all tickets
	taken    []uint64  // the roles that a player of a ticket takes, if roles.amply is there
}

func (l *neighbors) remove(place uint32) {
	up, down := l.up[place], l.down[place]
	if down >= 0 {
		l.up[down] = up
	}
	if up >= 0 {
		l.down[up] = down
	}
}

// sortTickets sorts tickets by key and value.
func (s *search) sortTickets(tickets []uint32) {
	if s.aligned != nil {
		s.sorted = s.merged(s.aligned, s.nearer)
	} else {
		s.sorted = s.byKey(matchfn.SortPool(tickets, s.values))
	}
	s.place = resize(s.place, s.pool.tickets())
	most := uint32(0)
	for i, t := range s.sorted {
		s.place[t] = uint32(i)
		most = max(most, s.keys[t])
	}
	s.groups = resize(s.groups, int(most)+1)
	for i, t := range s.sorted {
		key := s.keys[t]
		if i == 0 || s.keys[s.sorted[i-1]] != key {
			s.groups[key][0] = int32(i)
		}
		s.groups[key][1] = int32(i)
	}
	s.neighbors.values = matchfn.Gather(s.values, s.sorted)
	if s.roles.amply != nil {
		s.neighbors.taken = resize(s.neighbors.taken, len(s.sorted))
		for i, t := range s.sorted {
			s.neighbors.taken[i] = s.roles.taken[t]
		}
	}
	s.neighbors.up, s.neighbors.down = resize(s.neighbors.up, len(s.sorted)), resize(s.neighbors.down, len(s.sorted))
	s.change()
}

// byKey sorts tickets by their keys. Tickets of a key stay in their order.
func (s *search) byKey(tickets []uint32) []uint32 {
	if len(s.keyed) == 0 {
		return tickets
	}
	keys := make([]float64, len(tickets))
	for i, t := range tickets {
		keys[i] = float64(s.keys[t])
	}
	return sortedBy(tickets, keys)
}

// sortedBy sorts tickets by a number of each. Tickets of a number stay in their order.
func sortedBy(tickets []uint32, numbers []float64) []uint32 {
	order := matchfn.SortBy(numbers)
	for i, at := range order {
		order[i] = tickets[at]
	}
	return order
}

// resize returns a slice of a length, of the same memory if that is enough. Its elements are any.
func resize[T any](of []T, n int) []T {
	if cap(of) < n {
		return make([]T, n+n/8)[:n]
	}
	return of[:n]
}

// link links the tickets that are left.
func (s *search) link() {
	s.linked = true
	last := int32(-1)
	for i, t := range s.sorted {
		if s.taken[t] {
			continue
		}
		s.neighbors.up[i], s.neighbors.down[i] = -1, -1
		if last >= 0 && s.keys[s.sorted[last]] == s.keys[t] {
			s.neighbors.up[last], s.neighbors.down[i] = int32(i), last
		}
		last = int32(i)
	}
}

const (
	// looksPerNeighbor is how many tickets are looked at for each of the nearest, at most.
	looksPerNeighbor = 8
	// looksPerWork is how many of these looks are a step of work.
	looksPerWork = 4
	// mostApart is how many tickets are passed over between two of the nearest, at most, where roles are counted.
	mostApart = 96
)

// near returns the nearest tickets that may be in a match with an anchor. All that are left come after it as anchors.
// If amply says how many players are enough for each role, it passes over tickets that take only roles that enough of
// the nearer ones take.
func (s *search) near(anchor uint32, limit int, amply []int) []uint32 {
	b := s.b
	b.pair(anchor)
	lacking, apart, players := ^uint64(0), looksPerNeighbor*limit, b.pool.size(anchor)
	if amply != nil {
		clear(b.available)
		lacking, apart = b.lack(anchor, amply, lacking>>(64-len(amply))), mostApart
	}
	near := b.nearby[:0]
	far := b.far()
	b.distant = far
	ups, downs, values, at := s.neighbors.up, s.neighbors.down, s.neighbors.values, s.values[anchor]
	taken, sorted := s.neighbors.taken, s.sorted
	down, up := downs[s.place[anchor]], ups[s.place[anchor]]
	below, above := math.Inf(1), math.Inf(1)
	if down >= 0 {
		below = at - values[down]
	}
	if up >= 0 {
		above = values[up] - at
	}
	steps := looksPerNeighbor * limit
	for end := steps - apart; len(near) < limit && steps > 0 && steps > end && lacking != 0; {
		var next int32
		if above < below {
			if above > far {
				break
			}
			next = up
			if up, above = ups[up], math.Inf(1); up >= 0 {
				above = values[up] - at
			}
		} else {
			if down < 0 || below > far {
				break
			}
			next = down
			if down, below = downs[down], math.Inf(1); down >= 0 {
				below = at - values[down]
			}
		}
		steps--
		if amply != nil && taken[next]&lacking == 0 {
			continue
		}
		t := sorted[next]
		if !b.compatible(t) {
			continue
		}
		near, end = append(near, t), steps-apart
		if amply != nil {
			lacking = b.lack(t, amply, lacking)
			if players += b.pool.size(t); lacking == 0 && players < s.most+s.most/2 {
				clear(b.available) // the same players take several roles
				lacking = ^uint64(0) >> (64 - len(amply))
			}
		}
	}
	s.work -= (looksPerNeighbor*limit - steps) / looksPerWork
	b.nearby = near
	s.low, s.high = s.at(down), s.at(up)
	if below > far && above > far {
		b.noteFar(lesser(below, above))
	}
	s.inOrder(anchor, near)
	return near
}

// lack counts a ticket's players for the roles that are lacking, and returns the roles that still are.
func (b *builder) lack(t uint32, amply []int, lacking uint64) uint64 {
	for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
		for more := b.roles.takes[p] & lacking; more != 0; more &= more - 1 {
			role := bits.TrailingZeros64(more)
			if b.available[role]++; b.available[role] == amply[role] {
				lacking &^= 1 << role
			}
		}
	}
	return lacking
}

// at returns the ticket at a place, or noTicket.
func (s *search) at(place int32) uint32 {
	if place < 0 {
		return noTicket
	}
	return s.sorted[place]
}

// far returns beyond which distance to the anchor no ticket can be in a match with it.
func (b *builder) far() float64 {
	far := b.widest() * b.narrow
	return far + b.blur(far)
}

// blur is more than rounding may add to a distance from the anchor.
func (b *builder) blur(distance float64) float64 {
	return 4 * rounding.Of(math.Abs(b.values[b.anchor])+distance)
}

// widest is the distance in the value by which tickets are near that the rules allow in a match with the anchor.
func (b *builder) widest() float64 {
	far := math.Inf(1)
	b.eachSpread(func(bound *rules.Bound) { far = math.Min(far, b.farIn(bound)) })
	return far
}

// farIn is far for one bound. The value of a party is a mean here, and some of its players may be nearer to one of the
// anchor's: but not all.
func (b *builder) farIn(bound *rules.Bound) float64 {
	if bound.Clock != rules.Own {
		return b.loosest(bound)
	}
	return own(bound, b.pool.age[b.anchor])
}

// noteFar notes when a distance is not too far any more.
func (b *builder) noteFar(distance float64) {
	b.eachSpread(func(bound *rules.Bound) {
		age := b.pool.age[b.anchor]
		if bound.Clock != rules.Own {
			age = b.loosestAt(bound)
		}
		if !math.IsInf(age, 1) {
			apart := distance - b.blur(distance)
			b.noteMost(bound, age, apart, apart <= b.farIn(bound))
		}
	})
}

// eachSpread calls with the bounds of spreads that keep tickets near each other.
func (b *builder) eachSpread(with func(bound *rules.Bound)) {
	if b.main == nil || b.main.value.Missing == rules.Any {
		return
	}
	for i := range b.all {
		c, ok := b.all[i].Need.(*rules.Spread)
		if ok && b.all[i].Active == nil && c.Value == b.main.value.Name &&
			(c.Scope.Of == rules.InMatch || c.Scope.Of == rules.BesideAnchor) {
			with(c.Max)
		}
	}
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

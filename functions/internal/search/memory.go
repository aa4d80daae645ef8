package search

import (
	"math"
	"slices"
	"sort"
)

// memory is what is known of anchors that were in no match, from run to run: that they are in none as long as no ticket
// comes or goes that was looked at, and no bound has another number. It never changes what is found: an anchor is
// passed over only if the same steps would be made again, and these are charged as if they had been.
type memory struct {
	run   uint32
	now   float64 // in milliseconds
	tried [modes][]tried
	// till is for how many seconds all that an attempt looks at stays as it is.
	till float64
	// low and high are the tickets before which the search for the nearest ended.
	low, high uint32
	// changes counts the tickets that came or went in this run, and latest has the last change of each place.
	changes uint32
	latest  latest
	fresh   []uint32 // tickets that came
	left    []uint32 // tickets that are gone
	altered []uint32 // tickets whose players take other roles than in the last run
	// order and aligned are the tickets that were left over, in the order of anchors and in the order of neighbors; nil
	// where they have to be sorted again.
	order, aligned []uint32
	// spare is what is left of the work of the run while an anchor is tried, which has its own.
	spare int
	// keeps is set if there will be another run.
	keeps bool
}

// mode is how an anchor is tried.
type mode int

const (
	quickly    mode = iota // with the nearest tickets, in few steps
	thoroughly             // in many steps
	wholly                 // with all tickets that are left, in all combinations
	modes      = 2 * (wholly + 1)
)

// Of the work, anchors that are in no match may take so many eighths: when they are tried quickly, thoroughly after
// that, or thoroughly at once. A quarter is left for all combinations.
const (
	quickShare    = 5
	lateShare     = 1
	thoroughShare = quickShare + lateShare
)

// firstRun is the number of the first run. No run has the number before it.
const firstRun = 2

// noTicket is no ticket.
const noTicket = math.MaxUint32

// tried is an anchor that is in no match.
type tried struct {
	until float64 // in milliseconds
	// low and high are the tickets next to the ones that were looked at. A change beyond them changes nothing.
	low, high uint32
	run       uint32 // the run in which this was so
	at        uint32 // after how many changes of that run
	cost      int32  // of work
	// granted is how much work it had in that run, if this was too little, as was the cost; else 0.
	granted int32
}

// entry returns what is known of an anchor.
func (s *search) entry(m mode, anchor uint32) *tried {
	if s.full {
		m += modes / 2
	}
	of := s.tried[m]
	if len(of) <= int(anchor) {
		more := make([]tried, s.pool.waiting+s.pool.waiting/8)
		copy(more, of)
		s.tried[m], of = more, more
	}
	return &of[anchor]
}

// attempt tries an anchor with at most so much work, unless it is known that it is in no match. It returns what that
// costs.
func (s *search) attempt(m mode, anchor uint32, most int, try func() bool) (found bool, cost int) {
	e := s.entry(m, anchor)
	granted := int32(min(most, s.work, math.MaxInt32))
	if s.holds(e, anchor) && (e.granted > 0 && granted <= e.cost || e.granted == 0 && e.cost <= granted) {
		if cost = int(e.cost); e.granted > 0 {
			cost = int(granted)
		}
		if e.run != s.run || e.granted > 0 && granted > e.granted { // otherwise it was paid
			s.work -= cost
			if e.run, e.at = s.run, s.changes; e.granted > 0 {
				e.granted = granted
			}
		}
		return false, cost
	}
	left := s.work
	s.work, s.spare = int(granted), left
	s.b.comparisons, s.till, s.low, s.high = 0, math.Inf(1), noTicket, noTicket
	for i := range s.b.refused {
		s.b.refused[i] = math.Inf(1) // no span was too wide yet
	}
	found = try()
	cost = int(granted) - max(0, s.work)
	ended := s.work <= 0
	s.work, s.spare = left-cost, 0
	if found {
		return true, cost
	}
	s.b.noteRefused()
	*e = tried{until: s.now + 1000*s.till - 1, low: s.low, high: s.high, run: s.run, at: s.changes, cost: int32(cost)}
	if ended {
		e.granted = granted
	}
	return false, cost
}

// holds reports whether what was found out of an anchor is still so. Its patience depends on all tickets that wait.
func (s *search) holds(e *tried, anchor uint32) bool {
	if s.crowd != nil {
		return false
	}
	at := e.at
	if e.run != s.run {
		if e.run+1 != s.run || !(s.now < e.until) {
			return false
		}
		at = 0
	}
	if s.changes == at {
		return true
	}
	group := s.groups[s.keys[anchor]]
	from, to := group[0], group[1]
	if e.low != noTicket {
		if s.taken[e.low] {
			return false
		}
		from = int32(s.place[e.low])
	}
	if e.high != noTicket {
		if s.taken[e.high] {
			return false
		}
		to = int32(s.place[e.high])
	}
	return s.latest.of(int(max(from-1, group[0])), int(min(to+1, group[1]))) <= at
}

// settle ends a run: what does not hold any more is forgotten.
func (s *search) settle(order []uint32) {
	if !s.keeps {
		return
	}
	s.order, s.aligned = s.leftOf(order), s.leftOf(s.sorted)
	for m := range s.tried {
		of := s.tried[m]
		for _, t := range order {
			if int(t) >= len(of) || s.taken[t] {
				continue
			}
			if e := &of[t]; e.run+1 >= s.run && s.holds(e, t) {
				e.run = s.run
			} else {
				e.run = 0
			}
		}
	}
}

// leftOf returns the tickets of some that are left.
func (s *search) leftOf(tickets []uint32) []uint32 {
	if len(s.found) == 0 {
		return tickets
	}
	return slices.DeleteFunc(slices.Clone(tickets), func(t uint32) bool { return s.taken[t] })
}

// change notes the tickets that came and went since the last run.
func (s *search) change() {
	s.changes = 0
	s.latest.reset(len(s.sorted))
	if len(s.fresh)+len(s.left)+len(s.altered) == 0 || !s.remembers() {
		return
	}
	s.changes = 1
	for _, tickets := range [2][]uint32{s.fresh, s.altered} {
		for _, t := range tickets {
			if place := int(s.place[t]); place < len(s.sorted) && s.sorted[place] == t {
				s.latest.set(place, 1)
			}
		}
	}
	for _, t := range s.left {
		place := sort.Search(len(s.sorted), func(i int) bool { return s.nearer(t, s.sorted[i]) < 0 })
		s.latest.set(place-1, 1)
		s.latest.set(place, 1)
	}
}

// remembers reports whether anything is known of anchors.
func (s *search) remembers() bool {
	return slices.ContainsFunc(s.tried[:], func(of []tried) bool { return of != nil })
}

// take takes a ticket.
func (s *search) take(t uint32) {
	s.taken[t] = true
	s.changes++
	s.latest.set(int(s.place[t]), s.changes)
}

// latest is when places changed last, as a tree of the greatest of two.
type latest struct {
	tree []uint32
	half int
}

// reset forgets all changes.
func (l *latest) reset(places int) {
	l.half = 1
	for l.half < places {
		l.half *= 2
	}
	if len(l.tree) < 2*l.half {
		l.tree = make([]uint32, 2*l.half)
	} else {
		clear(l.tree)
	}
}

// set notes a change, which is later than all before.
func (l *latest) set(place int, at uint32) {
	if place < 0 || place >= l.half {
		return
	}
	for i := place + l.half; i > 0 && l.tree[i] != at; i /= 2 {
		l.tree[i] = at
	}
}

// of returns the latest change from one place to another.
func (l *latest) of(from, to int) (at uint32) {
	from, to = max(from, 0)+l.half, min(to, l.half-1)+l.half
	for from <= to {
		if from%2 == 1 {
			at = max(at, l.tree[from])
			from++
		}
		if to%2 == 0 {
			at = max(at, l.tree[to])
			to--
		}
		from, to = from/2, to/2
	}
	return at
}

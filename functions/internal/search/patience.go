package search

import (
	"math"

	"matchmaker.dev/functions/internal/patience"
)

// countWaiting counts the tickets that wait, if they wait for nearer matches. It counts again after matches were found:
// a run with the tickets that are left over must find nothing more.
func (s *search) countWaiting() {
	if s.rules.Patience == nil {
		return
	}
	tickets := make([]patience.Ticket, 0, s.pool.waiting)
	for t := range uint32(s.pool.waiting) {
		if !s.taken[t] {
			tickets = append(tickets, s.standing(t))
		}
	}
	s.work -= len(tickets) / 4
	s.crowd = patience.New(*s.rules.Patience, tickets)
	s.parts = make([]float64, s.pool.waiting)
}

// standing is what counts of a ticket that waits.
func (s *search) standing(t uint32) patience.Ticket {
	return patience.Ticket{
		Same: s.keys[t], Regions: s.reachable(t), Value: s.values[t], Age: s.pool.age[t], Players: s.pool.size(t),
	}
}

// reachable is the regions that a ticket reaches, by its own age.
func (s *search) reachable(t uint32) uint64 {
	if s.masks == nil {
		return ^uint64(0)
	}
	mask := s.masks[t]
	if !s.here[t] {
		return mask
	}
	age := s.pool.age[t]
	for _, l := range s.limits {
		mask &= s.regionsWithin(l, t, own(l.need.Max, age), own(l.need.Over, age))
	}
	return mask
}

// applyPatience finds how near a match with the anchor must be.
func (b *builder) applyPatience() {
	b.share, b.narrow = 1, 1
	if b.crowd == nil || b.hasty || b.game != nil || b.isMember(b.anchor) {
		return
	}
	if b.parts[b.anchor] == 0 {
		standing := b.standing(b.anchor)
		b.work -= 2 + b.crowd.Cells(standing)/8
		b.parts[b.anchor], _ = b.reservation(standing)
	}
	b.share = b.parts[b.anchor]
	if b.rules.Priority == "" { // else an older ticket, which waits no longer, may be in the match
		b.narrow = b.share
	}
}

// reservation is which part of the bounds a match with the anchor may use, and within how many seconds one is expected.
func (b *builder) reservation(standing patience.Ticket) (share, soon float64) {
	if standing.Age >= b.rules.Patience.Until {
		return 1, 0
	}
	reach := math.Inf(1)
	if b.main != nil {
		reach = b.widest()
	}
	rate := b.crowd.Rate(standing, reach)
	needed := math.Max(1, float64(b.most-standing.Players))
	share = b.crowd.Share(standing.Age, rate, needed)
	return share, b.crowd.Soon(standing.Age, rate, needed, share)
}

// part is which part of its bounds the match may use: all of them if one of its tickets waits no longer.
func (b *builder) part() float64 {
	if b.share < 1 && b.ages[0] >= b.rules.Patience.Until {
		return 1
	}
	return b.share
}

// isNear reports whether the match, which the rules allow, uses at most a part of its spreads and gaps, and of how far
// apart its odds allow teams to be.
func (b *builder) isNear(part float64) bool {
	for i := range b.all {
		rule := &b.all[i]
		if b.inactive(rule) {
			continue
		}
		if c, is := rule.is.(nearer); is && !c.near(b, i, part) {
			return false
		}
	}
	return true
}

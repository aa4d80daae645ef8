package search

import (
	"math/bits"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// aboutParties reports whether a preference compares parties.
func aboutParties(p rules.Preference) bool {
	if p.Need != nil {
		_, premade := p.Need.(*rules.Premade)
		return premade
	}
	return mentions(p.Amount, func(e rules.Expression) bool {
		of, ok := e.(*rules.StatOf)
		return ok && (of.Stat == rules.StatParty || of.Stat == rules.StatTickets)
	})
}

// mostRegrouped is how many tickets a team may have that is regrouped.
const mostRegrouped = 8

// replace takes candidates instead of tickets of a team, as many players each time: what makes the match cheapest, if
// that makes it cheaper. It is one for one, and where preferences compare parties also one for several or several for
// one. So parties meet parties.
func (b *builder) replace() bool {
	price, region, mask := b.price, b.region, b.mask
	best, bestRegion := price.dearer(), region
	bestTeam := -1
	var bestTickets []uint32
	try := func(team int, tickets []uint32) {
		b.trials--
		b.work -= b.total
		before := b.teams[team]
		b.change(team, tickets)
		if b.mask != 0 && b.sized() && b.cheaper(best) {
			best, bestRegion, bestTeam = b.price, b.region, team
			bestTickets = append(bestTickets[:0], tickets...)
		}
		b.change(team, before)
	}
	for i, team := range b.teams {
		b.single(i, team, try)
		if b.byParty && len(team) <= mostRegrouped {
			b.fewer(i, team, try)
			b.several(i, team, try)
		}
	}
	b.mask = mask
	if bestTeam < 0 {
		b.price, b.region = price, region
		return false
	}
	b.price, b.region = best, bestRegion
	b.change(bestTeam, slices.Clone(bestTickets))
	return true
}

// single tries each candidate instead of a ticket of a team.
func (b *builder) single(i int, team []uint32, try func(team int, tickets []uint32)) {
	tickets := slices.Clone(team)
	for j, t := range team {
		if t == b.anchor || b.isMember(t) {
			continue
		}
		for _, c := range b.candidates {
			if b.trials <= 0 || b.work <= 0 {
				return
			}
			if b.pool.size(c) == b.pool.size(t) && !slices.Contains(b.chosen, c) {
				tickets[j] = c
				try(i, tickets)
			}
		}
		tickets[j] = t
	}
}

// fewer tries each candidate instead of several tickets of a team.
func (b *builder) fewer(i int, team []uint32, try func(team int, tickets []uint32)) {
	var tickets []uint32
	for set := uint(1); set < 1<<len(team); set++ {
		if bits.OnesCount(set) < 2 {
			continue
		}
		tickets = tickets[:0]
		size, fixed := 0, false
		for j, t := range team {
			if set&(1<<j) == 0 {
				tickets = append(tickets, t)
				continue
			}
			size += b.pool.size(t)
			fixed = fixed || t == b.anchor || b.isMember(t)
		}
		if fixed {
			continue
		}
		for _, c := range b.candidates {
			if b.trials <= 0 || b.work <= 0 {
				return
			}
			if b.pool.size(c) == size && !slices.Contains(b.chosen, c) {
				try(i, append(tickets, c))
			}
		}
	}
}

// several tries several candidates instead of each ticket of a team: from each one on, the candidates that still fit.
func (b *builder) several(i int, team []uint32, try func(team int, tickets []uint32)) {
	for j, t := range team {
		if b.pool.size(t) < 2 || t == b.anchor || b.isMember(t) {
			continue
		}
		for from, first := range b.candidates {
			if b.trials <= 0 || b.work <= 0 {
				return
			}
			left := b.pool.size(t)
			if b.pool.size(first) >= left {
				continue
			}
			tickets := slices.Delete(slices.Clone(team), j, j+1)
			for _, c := range b.candidates[from:] {
				if size := b.pool.size(c); size <= left && !slices.Contains(b.chosen, c) {
					tickets, left = append(tickets, c), left-size
				}
			}
			if left == 0 {
				try(i, tickets)
			}
		}
	}
}

// change gives a team other tickets.
func (b *builder) change(team int, tickets []uint32) {
	b.teams[team], b.chosen = tickets, b.chosen[:0]
	for _, tickets := range b.teams {
		b.chosen = append(b.chosen, tickets...)
	}
	b.refresh()
}

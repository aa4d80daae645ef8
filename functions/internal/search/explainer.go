package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// explainer finds reasons. Tickets of matches are taken.
type explainer struct {
	pool   *pool
	games  *Games
	filled []bool // of each game: whether a ticket joins it
	taken  []bool
	work   int
	// others are the tickets that are in no match. Of each ticket that is asked about, so many of them are looked at
	// with every variant of the rules.
	others     []uint32
	sampleSize int
	lacks      []Lack // of all tickets in no match
}

// unfit is the tickets that can be in no match with a variant of the rules: tickets of other matches, and tickets
// without a value that these rules need.
func (e *explainer) unfit(r *rules.Rules) []bool {
	p, unfit, used := e.pool, slices.Clone(e.taken), rules.Used(r)
	for t := range unfit {
		if !p.refused[t] || unfit[t] {
			continue
		}
		unfit[t] = p.unread[t] != isRead
		for i := range p.columns {
			c := &p.columns[i]
			if t >= p.waiting && p.hides(c.value.Name) {
				continue
			}
			unfit[t] = unfit[t] || used[c.value.Name] && c.value.Missing == rules.Reject && p.lacks(i, uint32(t))
		}
	}
	return unfit
}

// compiles is about how much work it is to begin with a variant of the rules.
func (e *explainer) compiles() int { return len(e.taken) / 4 }

// examineVariant looks at tickets with a variant of the rules, with at most so much of the work.
func (e *explainer) examineVariant(v *variant, tickets []uint32, share int) []examination {
	examinations := make([]examination, len(tickets))
	if share <= e.compiles() {
		return examinations
	}
	e.work -= share
	r := &v.rules
	s := newSearch(r, e.pool)
	s.work, s.anchorsLeft, s.hasty = share-e.compiles(), few, true
	x := &examiner{search: s, order: s.prepare(e.games, e.unfit(r)), joinsOnly: v.joins}
	s.countWaiting()
	s.begin(x.order)
	if len(e.games.Running) > 0 {
		s.rankAll(x.order)
		x.open = slices.DeleteFunc(s.openGames(), func(g *openGame) bool { return e.filled[g.number] })
		x.open = x.open[:min(mostGames, len(x.open))]
	}
	x.rank = make([]int, len(e.taken))
	for i := range x.rank {
		x.rank[i] = -1
	}
	x.lacking = rules.MaxPlayers
	for _, a := range s.fewestTeams {
		x.lacking = min(x.lacking, a.fewest) // players that any match has at least
	}
	for i, t := range x.order {
		x.rank[t] = i
		x.lacking -= e.pool.size(t)
	}
	x.lacking, x.never = max(0, x.lacking), x.lacking > 0 || !s.rolesLeft()
	if v.name == "" { // a role that is lacking is said of all rules
		x.countRoles(tickets)
		e.lacks = x.lacks(x.allTakers)
	}
	x.countAll()
	for i, t := range tickets {
		e.pick(x, i, t, &examinations[i])
	}
	x.examineAll(tickets, examinations)
	e.work += s.work
	return examinations
}

// examineAll examines tickets with an even share of the work each, but with enough to try one match, as long as there
// is some. What some leave is for tickets that need more.
func (x *examiner) examineAll(tickets []uint32, examinations []examination) {
	var open []int
	for i := range examinations {
		if examinations[i].known {
			open = append(open, i)
		}
	}
	for len(open) > 0 && x.work > 0 {
		var more []int
		for i, at := range open {
			v, left := &examinations[at], x.work
			share := max(left/(len(open)-i), min(left, x.tries()))
			if share <= 0 || share < 2*v.granted {
				continue // it would end where it ended before
			}
			x.work, v.granted = share, share
			x.examine(tickets[at], v)
			if x.work = left - share + x.work; !v.complete && v.match == nil && v.join == nil {
				more = append(more, at)
			}
		}
		open = more
	}
}

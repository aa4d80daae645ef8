package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
)

// MaxRegions is how many regions are told apart: the regions for which most tickets vote.
const MaxRegions = rules.MaxRegions

// oneVote is what a ticket adds to its best region.
const oneVote = 1 << 20

// takes reports whether a name of a map counts.
func (c *column) takes(name []byte) bool {
	return c.only == nil || slices.ContainsFunc(c.only, func(one string) bool { return one == string(name) })
}

// findRegions numbers the regions by name: all regions of players and of running games, but not names that no match may
// have. If these are too many, the regions with the most votes of waiting tickets count.
func (p *pool) findRegions(games *Games) {
	i := slices.IndexFunc(p.columns, func(c column) bool { return c.value.Name == p.rules.RegionValue })
	if i < 0 {
		return
	}
	c := &p.columns[i]
	more := slices.Clip(p.seen)
	see := func(name uint32) {
		for uint32(len(p.known)) <= name {
			p.known = append(p.known, false)
		}
		if !p.known[name] && p.rules.MayBeIn(p.names.texts[name]) {
			p.known[name] = true
			more = append(more, name)
		}
	}
	for _, item := range c.items[p.sought:] {
		see(item)
	}
	p.sought = len(c.items)
	var running []uint32
	for i := range games.Running {
		if c.value.Missing == rules.Any && games.Running[i].Region != "" { // else all have latencies, and none to another one
			name := p.names.number([]byte(games.Running[i].Region))
			running = append(running, name)
			see(name)
		}
	}
	if len(more) > len(p.seen) {
		slices.SortFunc(more, p.byName)
		p.seen = more
	}
	p.regions = p.seen
	if len(p.seen) > MaxRegions {
		p.regions = p.voted(c, running)
	}
}

func (p *pool) byName(a, b uint32) int { return strings.Compare(p.names.texts[a], p.names.texts[b]) }

// voted returns the regions with the most votes of waiting tickets, by name. Of regions without votes, only the regions
// of running games count.
func (p *pool) voted(c *column, running []uint32) []uint32 {
	v := &p.votes
	v.begin(p, c)
	most := together(p.rules)
	for t := range uint32(p.waiting) {
		if votes := !p.gone[t] && !p.refused[t] && p.size(t) <= most; votes != v.counted[t] {
			v.counted[t] = votes
			v.ticket(t, votes)
		}
	}
	runs := map[uint32]bool{}
	for _, name := range running {
		runs[name] = true
	}
	of := func(name uint32) int {
		if v.votes[name] == 0 && runs[name] {
			return 1
		}
		return v.votes[name]
	}
	best := slices.DeleteFunc(slices.Clone(p.seen), func(name uint32) bool { return of(name) == 0 })
	slices.SortFunc(best, func(a, b uint32) int { return cmp.Or(of(b)-of(a), p.byName(a, b)) })
	best = best[:min(len(best), MaxRegions)]
	slices.SortFunc(best, p.byName)
	return best
}

// together is how many players a ticket of a match has at most.
func together(r *rules.Rules) int { return min(largestTeam(r), atMost(r.Players.Max)) }

// votes is how tickets vote for regions: each for the regions that all of its players know. It adds a whole vote to the
// best one, half a vote to the next, a third to the one after that, and so on. So one that names very many regions adds
// little to most of them. Votes are kept from run to run, so that only tickets that come and go are counted.
type votes struct {
	pool    *pool
	column  *column
	votes   []int  // by name
	counted []bool // by ticket
	// worst and knows are of one ticket: the greatest latency of its players, and how many of them know the region.
	worst   []float64
	knows   []uint32
	regions []uint32
	sorted  []float64
}

// begin makes room for all names and tickets.
func (v *votes) begin(p *pool, c *column) {
	v.pool, v.column = p, c
	if more := len(p.names.texts) - len(v.votes); more > 0 {
		v.votes, v.knows = append(v.votes, make([]int, more)...), append(v.knows, make([]uint32, more)...)
		v.worst = append(v.worst, make([]float64, more)...)
	}
	if more := p.waiting - len(v.counted); more > 0 {
		v.counted = append(v.counted, make([]bool, more)...)
	}
}

// ticket lets a ticket vote, or takes its votes back.
func (v *votes) ticket(t uint32, votes bool) {
	c, players := v.column, uint32(0)
	v.regions, v.sorted = v.regions[:0], v.sorted[:0]
	for p := v.pool.first[t]; p < v.pool.first[t+1]; p++ {
		if !c.has[p] {
			continue
		}
		for i := c.starts[p]; i < c.starts[p+1]; i++ {
			name := c.items[i]
			if players == 0 && v.pool.known[name] {
				v.regions, v.knows[name], v.worst[name] = append(v.regions, name), 0, c.amounts[i]
			}
			if v.knows[name] == players {
				v.knows[name], v.worst[name] = players+1, max(v.worst[name], c.amounts[i])
			}
		}
		players++
	}
	v.regions = slices.DeleteFunc(v.regions, func(name uint32) bool { return v.knows[name] != players })
	for _, name := range v.regions {
		v.sorted = append(v.sorted, v.worst[name])
	}
	slices.Sort(v.sorted)
	for _, name := range v.regions {
		// Of regions that are as good, all are where the last of them is: a ticket has no two best ones.
		place, _ := slices.BinarySearch(v.sorted, math.Nextafter(v.worst[name], math.Inf(1)))
		if votes {
			v.votes[name] += oneVote / place
		} else {
			v.votes[name] -= oneVote / place
		}
	}
}

package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
)

// MaxRegions is how many regions are told apart: those for which most tickets vote.
const MaxRegions = rules.MaxRegions

// oneVote is what a ticket adds to its best region.
const oneVote = 1 << 20

// takes returns whether a name of a map counts.
func (c *column) takes(name []byte) bool {
	if c.only == nil {
		return true
	}
	for _, one := range c.only {
		if one == string(name) {
			return true
		}
	}
	return false
}

// findRegions numbers the regions: all that players have, and those of running games, by name, but for names that no
// match may have. Where these are too many, those count for which most tickets vote that wait.
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

// voted returns the regions for which most tickets vote that wait, by name. Of those that nobody has, only those of
// running games count.
func (p *pool) voted(c *column, running []uint32) []uint32 {
	v := votes{pool: p, column: c, votes: make([]int, len(p.names.texts)), worst: make([]float64, len(p.names.texts)),
		knows: make([]uint32, len(p.names.texts))}
	most := together(p.rules)
	for t := range uint32(p.waiting) {
		if !p.gone[t] && !p.refused[t] && p.size(t) <= most {
			v.ticket(t)
		}
	}
	for _, name := range running {
		v.votes[name] = max(1, v.votes[name])
	}
	best := slices.DeleteFunc(slices.Clone(p.seen), func(name uint32) bool { return v.votes[name] == 0 })
	slices.SortFunc(best, func(a, b uint32) int { return cmp.Or(v.votes[b]-v.votes[a], p.byName(a, b)) })
	best = best[:min(len(best), MaxRegions)]
	slices.SortFunc(best, p.byName)
	return best
}

// together is how many players a ticket of a match has at most.
func together(r *rules.Rules) int {
	greatest := func(b *rules.Bound) float64 {
		if b == nil {
			return rules.MaxPlayers
		}
		_, n, off := b.Over(0, math.Inf(1))
		if off {
			return rules.MaxPlayers
		}
		return n
	}
	most := 0.0
	for i := range r.Teams {
		most = max(most, greatest(r.Teams[i].Size.Max))
	}
	return int(min(most, greatest(r.Players.Max), rules.MaxPlayers))
}

// votes is how tickets vote for regions: each for those that all of its players know. It adds a whole vote to the best
// one, half a vote to the next, a third to the one after that, and so on. So one that names very many regions adds
// little to most of them.
type votes struct {
	pool   *pool
	column *column
	votes  []int // by name
	// worst and knows are of one ticket: the greatest latency of its players, and how many of them know the region.
	worst   []float64
	knows   []uint32
	regions []uint32
	sorted  []float64
}

// ticket lets a ticket vote.
func (v *votes) ticket(t uint32) {
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
		v.votes[name] += oneVote / place
	}
}

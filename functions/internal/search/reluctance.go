package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// reluctance is what giving roles costs: how reluctantly players take them.
type reluctance struct {
	costs []float64 // of each player of a team, and each of its roles
	teams []float64 // of each team: the sum
	// Scratch, of nodes: the roles of a team, and one for all players who might be there or not.
	far  []float64
	from []step
}

// step is how a node is reached: from another one, by a player who moves, or by nobody.
type step struct{ node, player int }

// slight is less than any reason to move players.
const slight = 1e-9

// please gives the players of a team, who have roles, the roles that they take least reluctantly in all, and notes how
// reluctantly that is.
func (b *builder) please(team int) {
	r := &b.reluctance
	for len(r.teams) <= team {
		r.teams = append(r.teams, 0)
	}
	r.teams[team] = 0
	if len(b.flow.given) == 0 {
		return
	}
	b.weigh(team)
	roles := len(b.flow.most)
	b.work -= len(b.flow.given)
	for range len(b.flow.given) * roles { // far fewer are enough
		if !b.flow.better(r, roles) {
			break
		}
		b.work -= len(b.flow.given)
	}
	for p, role := range b.flow.given {
		r.teams[team] += r.costs[p*roles+role]
	}
}

// weigh finds how reluctantly the players of a team take each role. It costs nothing to give one to a player who says
// nothing of it.
func (b *builder) weigh(team int) {
	r, column := &b.reluctance, b.roles.column
	r.costs = r.costs[:0]
	shape := &b.roles.shapes[b.arranged.shapes[team]]
	for _, t := range b.teams[team] {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			weight := 1.0
			if c := b.roles.weight; c != nil && c.numbers[p] == c.numbers[p] {
				weight = c.numbers[p]
			}
			for _, role := range shape.global {
				cost := 0.0
				if n := column.amount(p, b.roles.names[role]); n == n && !b.isMember(t) {
					cost = finite(weight * n)
				}
				r.costs = append(r.costs, cost)
			}
		}
	}
}

// better moves players, each into the role that another one leaves, so that the sum of the costs becomes less. It
// returns whether it could: there is no way left if no cycle of moves has negative costs (Bellman and Ford).
func (f *flow) better(r *reluctance, roles int) bool {
	nodes := roles + 1 // the last is for a role with room, and for one with players to spare
	r.far, r.from = r.far[:0], r.from[:0]
	for range nodes {
		r.far, r.from = append(r.far, 0), append(r.from, step{-1, -1})
	}
	last := -1
	for range nodes {
		last = -1
		reach := func(from, to, player int, cost float64) {
			if r.far[from]+cost < r.far[to]-slight {
				r.far[to], r.from[to], last = r.far[from]+cost, step{from, player}, to
			}
		}
		for p, given := range f.given {
			for role := range roles {
				if role != given && f.masks[p]&(1<<role) != 0 {
					reach(given, role, p, r.costs[p*roles+role]-r.costs[p*roles+given])
				}
			}
		}
		for role := range roles {
			if f.counts[role] < f.most[role] {
				reach(role, roles, -1, 0)
			}
			if f.counts[role] > f.least[role] {
				reach(roles, role, -1, 0)
			}
		}
		if last < 0 {
			return false
		}
	}
	at := last
	for range nodes { // then it is in the cycle
		if at = r.from[at].node; at < 0 {
			return false // it was only slightly better
		}
	}
	sum := 0.0
	for node := at; ; {
		s := r.from[node]
		if s.player >= 0 {
			sum += r.costs[s.player*roles+node] - r.costs[s.player*roles+s.node]
		}
		if node = s.node; node == at {
			break
		}
	}
	if !(sum < -slight) {
		return false
	}
	for node := at; ; {
		s := r.from[node]
		if s.player >= 0 {
			f.counts[s.node]--
			f.counts[node]++
			f.given[s.player] = node
		}
		if node = s.node; node == at {
			return true
		}
	}
}

// reluctances appends how reluctantly players take their roles: the sum over the match, or over each team of a scope.
func (b *builder) reluctances(all []float64, s rules.Scope) []float64 {
	sum := 0.0
	for i, shape := range b.arranged.shapes {
		n := 0.0
		if len(b.rules.Teams[shape].Roles) > 0 && i < len(b.reluctance.teams) {
			n = b.reluctance.teams[i]
		}
		sum += n
		if s.Of == rules.InTeam || s.Of == rules.InTeams && slices.Contains(s.Teams, b.rules.Teams[shape].Name) {
			all = append(all, n)
		}
	}
	if s.Of == rules.InMatch {
		all = append(all, sum)
	}
	return all
}

// finite returns a number, or the greatest instead of an infinite one.
func finite(n float64) float64 { return math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, n)) }

package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// roleCost is what giving roles costs: how reluctantly players take them.
type roleCost struct {
	costs []float64 // of each player of a team, and each of its roles
	teams []float64 // of each team: the sum
	// Scratch, of nodes: how far each is, from which node, and the cheapest way between each two.
	far   []float64
	from  []int
	edges []edge
}

// edge is a way from a role to another one: what it costs, and the player that moves, or -1.
type edge struct {
	cost   float64
	player int
}

// slight is less than any reason to move players.
const slight = 1e-9

// minimizeRoleCost gives the players of a team, which have roles, the roles with the least cost in all, and notes the
// cost.
func (b *builder) minimizeRoleCost(team int) {
	r := &b.roleCost
	for len(r.teams) <= team {
		r.teams = append(r.teams, 0)
	}
	r.teams[team] = 0
	if len(b.flow.given) == 0 {
		return
	}
	b.findRoleCosts(team)
	roles := len(b.flow.most)
	for range len(b.flow.given) * roles { // far fewer are enough
		if b.work -= 1 + len(b.flow.given)*roles/32; !b.flow.better(r, roles) {
			break
		}
	}
	for p, role := range b.flow.given {
		r.teams[team] += r.costs[p*roles+role]
	}
}

// findRoleCosts finds what each role costs each player of a team: 0 for a role of which the player's ticket says
// nothing.
func (b *builder) findRoleCosts(team int) {
	r, column := &b.roleCost, b.roles.column
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
func (f *flow) better(r *roleCost, roles int) bool {
	// Beside the roles there is a node for one with room and one with players to spare, and where roles may lack players,
	// one for those that do: then another role may lack one more.
	nodes, spare, lack := roles+2, roles, roles+1
	r.begin(nodes)
	for p, given := range f.given {
		for role := range roles {
			if role != given && f.masks[p]&(1<<role) != 0 {
				r.edge(given, role, p, r.costs[p*roles+role]-r.costs[p*roles+given])
			}
		}
	}
	for role := range roles {
		if f.counts[role] < f.most[role] {
			r.edge(role, spare, -1, 0)
		}
		if f.counts[role] > f.least[role] {
			r.edge(spare, role, -1, 0)
		}
		if f.lax && f.counts[role] < min(f.least[role], f.most[role]) {
			r.edge(role, lack, -1, 0)
		}
		if f.lax && f.counts[role] > 0 && f.counts[role] <= f.least[role] {
			r.edge(lack, role, -1, 0)
		}
	}
	at := r.cycle(nodes)
	if at < 0 {
		return false
	}
	for node := at; ; {
		from := r.from[node]
		if p := r.edges[from*nodes+node].player; p >= 0 {
			f.counts[from]--
			f.counts[node]++
			f.given[p] = node
		}
		if node = from; node == at {
			return true
		}
	}
}

func (r *roleCost) begin(nodes int) {
	r.far, r.from, r.edges = r.far[:0], r.from[:0], r.edges[:0]
	for range nodes {
		r.far, r.from = append(r.far, 0), append(r.from, -1)
		for range nodes {
			r.edges = append(r.edges, edge{math.Inf(1), -1})
		}
	}
}

// edge adds a way from one node to another, by a player that moves, or by none. The cheapest counts.
func (r *roleCost) edge(from, to, player int, cost float64) {
	if e := &r.edges[from*len(r.far)+to]; cost < e.cost {
		*e = edge{cost, player}
	}
}

// cycle returns a node of a cycle with negative costs, or -1. From tells how each node of it is reached.
func (r *roleCost) cycle(nodes int) int {
	at := -1
	for range nodes {
		at = -1
		for from := range nodes {
			for to := range nodes {
				if far := r.far[from] + r.edges[from*nodes+to].cost; far < r.far[to]-slight {
					r.far[to], r.from[to], at = far, from, to
				}
			}
		}
		if at < 0 {
			return -1
		}
	}
	for range nodes { // then it is in the cycle
		if at = r.from[at]; at < 0 {
			return -1 // it was only slightly better
		}
	}
	sum := 0.0
	for node := at; ; {
		sum += r.edges[r.from[node]*nodes+node].cost
		if node = r.from[node]; node == at {
			break
		}
	}
	if sum < -slight {
		return at
	}
	return -1
}

// roleCosts appends how reluctantly players take their roles: the sum over the match, or over each team of a scope.
func (b *builder) roleCosts(all []float64, s rules.Scope) []float64 {
	sum := 0.0
	for i, shape := range b.arranged.shapes {
		n := 0.0
		if len(b.rules.Teams[shape].Roles) > 0 && i < len(b.roleCost.teams) {
			n = b.roleCost.teams[i]
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

// finite clamps n to ±1e300, so that sums stay finite.
func finite(n float64) float64 { return math.Max(-1e300, math.Min(1e300, n)) }

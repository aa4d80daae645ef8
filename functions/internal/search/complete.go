package search

import (
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// complete reports whether the teams are a match that the rules allow, if need be after tickets were exchanged, and
// keeps it.
func (b *builder) complete() bool {
	b.work -= 4 * b.total
	b.used++
	b.clock()
	if !b.sized() || b.full && !b.isFull() || !b.accept() && !b.repairable() {
		return false
	}
	b.improve()
	b.even()
	b.keep()
	return true
}

// clock computes the ages of the match, by clock. Times are whole milliseconds, so their order does not change a sum.
func (b *builder) clock() {
	oldest, newest, sum, n := math.Inf(-1), math.Inf(1), 0.0, 0.0
	for _, t := range b.chosen {
		if b.isMember(t) {
			continue // members have no age
		}
		age := b.pool.age[t]
		oldest, newest = greater(oldest, age), lesser(newest, age)
		sum, n = sum+greater(0, b.now-b.pool.created[t]), n+1
	}
	b.ages = [4]float64{oldest, newest, sum / 1000 / n, b.pool.age[b.anchor]}
}

// at is the number of a bound in the match.
func (b *builder) at(bound *rules.Bound) (float64, bool) {
	if bound == nil {
		return 0, false
	}
	age := b.ageOf(bound)
	b.noteChange(bound, age)
	return bound.At(age)
}

// ageOf is the age that a bound follows in the match.
func (b *builder) ageOf(bound *rules.Bound) float64 {
	switch bound.Clock {
	case rules.Newest:
		return b.ages[1]
	case rules.Mean:
		return b.ages[2]
	case rules.Anchor:
		return b.ages[3]
	}
	return b.ages[0]
}

// under reports whether a number is at most a bound in the match.
func (b *builder) under(bound *rules.Bound, n float64) bool {
	if bound == nil {
		return true
	}
	age := b.ageOf(bound)
	most, on := bound.At(age)
	within := !on || n <= most
	b.noteMost(bound, age, n, within)
	return within
}

func (b *builder) within(n float64, r rules.Range) bool { return b.inside(n, r, 0) }

// inside is within for a number that was computed from numbers of a magnitude.
func (b *builder) inside(n float64, r rules.Range, magnitude float64) bool {
	if least, on := b.at(r.Min); on && n < least-rounding.Of(greater(magnitude, math.Abs(least))) {
		return false
	}
	most, on := b.at(r.Max)
	return !on || n <= most+rounding.Of(greater(magnitude, math.Abs(most)))
}

// sized reports whether the teams are as many and as large as they must be.
func (b *builder) sized() bool {
	if b.game != nil {
		return b.copied() // accept looks at the rest, which depends on roles
	}
	for i, shape := range b.arranged.shapes {
		if !b.within(float64(b.players[i]), b.rules.Teams[shape].Size) {
			return false
		}
	}
	return b.copied() && b.within(float64(b.total), b.rules.Players)
}

// copied reports whether there are as many teams of each shape as there must be.
func (b *builder) copied() bool {
	for i := range b.rules.Teams {
		n := 0
		for _, shape := range b.arranged.shapes {
			if shape == i {
				n++
			}
		}
		if !b.within(float64(n), b.rules.Teams[i].Copies) {
			return false
		}
	}
	return true
}

// isFull reports whether the match takes no more players.
func (b *builder) isFull() bool {
	if most, on := b.at(b.rules.Players.Max); on && float64(b.total+1) > most {
		return true
	}
	for i, shape := range b.arranged.shapes {
		if most, on := b.at(b.rules.Teams[shape].Size.Max); !on || float64(b.players[i]+1) <= most {
			return false
		}
	}
	return true
}

// leavesOpen reports whether the game has at most as many players as it may have, and only as many places stay open as
// may: players that its teams, their roles and the match lack, and for which there are places.
func (b *builder) leavesOpen() bool {
	open := 0.0
	for i, shape := range b.arranged.shapes {
		team, n := &b.rules.Teams[shape], float64(b.players[i])
		if !b.assign(i) {
			return false
		}
		lacking := 0.0
		if len(team.Roles) > 0 {
			lacking = float64(b.flow.lacking)
		}
		if least, on := b.at(team.Size.Min); on {
			lacking = math.Max(lacking, math.Ceil(least)-n)
		}
		if most, on := b.at(team.Size.Max); on && n+lacking > most {
			return false
		}
		open += lacking
	}
	total := float64(b.total)
	if most, on := b.at(b.rules.Players.Max); on && total+open > most {
		return false
	}
	if least, on := b.at(b.rules.Players.Min); on {
		open = math.Max(open, math.Ceil(least)-total)
	}
	most, on := b.at(b.rules.Backfill.Open)
	return !on || open <= most
}

// accept reports whether the rules allow the match as it is, and says in which region and at which price. A match whose
// tickets can wait for a nearer one is not accepted.
func (b *builder) accept() bool {
	if b.game != nil {
		if !b.leavesOpen() { // which gives the roles
			return false
		}
	} else {
		for i := range b.teams {
			if !b.assign(i) {
				return false
			}
		}
	}
	region, ok := b.allowed()
	if !ok {
		return false
	}
	if part := b.part(); part < 1 && !b.isNear(part) {
		return false
	}
	b.region, b.price = region, price{}
	if len(b.rules.Prefer) > 0 {
		b.price = price{b.cost(region), b.width()}
	}
	return true
}

// width is how far the tickets are from each other, as a part of what is allowed.
func (b *builder) width() float64 {
	if b.distant <= 0 || math.IsInf(b.distant, 1) {
		return 0
	}
	least, greatest := math.Inf(1), math.Inf(-1)
	for _, t := range b.chosen {
		least, greatest = math.Min(least, b.values[t]), math.Max(greatest, b.values[t])
	}
	return (greatest - least) / b.distant
}

// assignAll gives the players of all teams their roles, if it matters how reluctantly they take them.
func (b *builder) assignAll() {
	if b.byRole {
		for i := range b.teams {
			b.assign(i)
		}
	}
}

// keep makes a match of the teams.
func (b *builder) keep() {
	b.assignAll() // what was looked at last may be another match
	m := Match{Age: b.pool.age[b.anchor], Cost: b.cost(b.region), Teams: make([]Team, len(b.teams)), Game: -1}
	m.Measures, m.More = b.measure(), b.commonOf(b.chosen)
	if b.game != nil {
		b.keepJoin(&m)
		return
	}
	if b.region >= 0 {
		m.Region = b.pool.names.texts[b.pool.regions[b.region]]
	}
	tickets := piece(&b.free, len(b.chosen))
	for i, team := range b.teams {
		n := copy(tickets, team)
		of := Team{Shape: b.arranged.shapes[i], Tickets: tickets[:n:n]}
		tickets = tickets[n:]
		if shape := &b.rules.Teams[of.Shape]; len(shape.Roles) > 0 && b.assign(i) {
			of.Players = make([]int, n)
			for j, t := range team {
				of.Players[j] = b.pool.size(t)
			}
			of.Roles = make([]string, len(b.flow.given))
			for j, role := range b.flow.given {
				of.Roles[j] = shape.Roles[role].Name
			}
		}
		m.Teams[i] = of
	}
	if b.rules.Backfill.Create != "" {
		if m.More == nil {
			m.More = &More{}
		}
		b.places(&m)
	}
	b.match = m
}

// keepJoin makes a match of the tickets that join a game.
func (b *builder) keepJoin(m *Match) {
	if m.Game = b.game.number; b.game.region >= 0 {
		m.Region = b.game.Region
	}
	for i, team := range b.teams {
		of := Team{Shape: b.arranged.shapes[i]}
		shape := &b.rules.Teams[of.Shape]
		roles := len(shape.Roles) > 0 && b.assign(i)
		at := 0
		for _, t := range team {
			size := b.pool.size(t)
			member := b.isMember(t)
			if member {
				of.Members = append(of.Members, int(t-b.game.from))
			} else {
				of.Tickets, of.Players = append(of.Tickets, t), append(of.Players, size)
			}
			if !roles {
				continue
			}
			for _, role := range b.flow.given[at : at+size] {
				if name := shape.Roles[role].Name; member {
					of.MemberRoles = append(of.MemberRoles, name)
				} else {
					of.Roles = append(of.Roles, name)
				}
			}
			at += size
		}
		m.Teams[i] = of
	}
	b.match = *m
}

// piece takes some elements from memory for matches, and gets more if that is used up.
func piece[T any](memory *[]T, n int) []T {
	if len(*memory) < n {
		*memory = make([]T, max(n, 1<<10))
	}
	of := (*memory)[:n:n]
	*memory = (*memory)[n:]
	return of
}

// allowed returns the best region in which all rules hold, -1 for rules without regions.
func (b *builder) allowed() (int, bool) {
	if b.game != nil && b.game.region >= 0 && b.placed() {
		return b.game.region, b.allHold(b.game.region)
	}
	if b.masks == nil || !b.placed() {
		return -1, b.allHold(-1)
	}
	for _, region := range b.byLatency() {
		if b.allHold(region) {
			return region, true
		}
	}
	return 0, false
}

// inactive reports whether a rule does not count in the match.
func (b *builder) inactive(rule *rule) bool {
	if rule.Active == nil {
		return false
	}
	n, on := b.at(rule.Active)
	return !on || n == 0
}

func (b *builder) allHold(region int) bool {
	for i := range b.all {
		rule := &b.all[i]
		if b.inactive(rule) {
			continue
		}
		b.work--
		switch quick := &b.fastChecks[i]; {
		case quick.pruner >= 0:
			if !b.spanned(&b.pruners[quick.pruner], quick.pruner) {
				return false
			}
		case quick.limit != nil:
			if !b.reachable(quick.limit, region) {
				return false
			}
		case !b.fulfils(rule.is, region):
			return false
		}
	}
	return true
}

// spanned reports whether the match is within a spread whose spans are known.
func (b *builder) spanned(g *pruner, i int) bool {
	if g.scope != rules.BesideAnchor {
		return b.under(g.bound, rounding.Apart(b.low[i], b.high[i])) // without numbers it is less than any bound
	}
	low, high := g.near.low[b.anchor], g.near.high[b.anchor]
	return every(b.chosen, func(t uint32) bool {
		return b.under(g.bound, rounding.Apart(math.Min(low, g.near.low[t]), math.Max(high, g.near.high[t])))
	})
}

// reachable reports whether all reach a region within a limit.
func (b *builder) reachable(l *reachLimit, region int) bool {
	if region < 0 {
		return true // no player has latencies
	}
	most, over := b.atMost(l.need.Max), b.atMost(l.need.Over)
	regions := len(b.pool.regions)
	for _, t := range b.chosen {
		if l.need.Max != nil && l.need.Max.Clock == rules.Own {
			most = own(l.need.Max, b.pool.age[t])
			b.noteChange(l.need.Max, b.pool.age[t])
		}
		if l.need.Over != nil && l.need.Over.Clock == rules.Own {
			over = own(l.need.Over, b.pool.age[t])
			b.noteChange(l.need.Over, b.pool.age[t])
		}
		at := int(t)*regions + region
		if !rounding.AtMost(l.worst[at], most) || l.above != nil && !rounding.AtMost(l.above[at], over) {
			return false
		}
	}
	return true
}

// atMost is a bound in the match, infinite if it is off.
func (b *builder) atMost(bound *rules.Bound) float64 {
	if n, on := b.at(bound); on {
		return n
	}
	return math.Inf(1)
}

// placed reports whether a player of the match has latencies. A match of others has no region.
func (b *builder) placed() bool {
	return slices.ContainsFunc(b.chosen, func(t uint32) bool { return b.here[t] })
}

// byLatency returns the regions that all know, the best first.
func (b *builder) byLatency() []int {
	order, costs := b.regionOrder[:0], b.regionCosts[:0]
	var column *column
	if b.rules.Choose == rules.ByMean {
		column = b.column(b.rules.RegionValue)
	}
	regions := len(b.pool.regions)
	for i, name := range b.pool.regions {
		if b.mask&(1<<i) == 0 {
			continue
		}
		cost := 0.0
		if b.rules.Choose == rules.ByMean {
			cost = b.meanLatency(column, name)
		} else {
			for _, t := range b.chosen {
				if n := b.tables[0].worst[int(t)*regions+i]; n > cost {
					cost = n
				}
			}
		}
		order, costs = append(order, i), append(costs, cost)
		for at := len(order) - 1; at > 0 && costs[at-1] > cost; at-- {
			order[at-1], order[at], costs[at-1], costs[at] = order[at], order[at-1], costs[at], costs[at-1]
		}
	}
	b.regionOrder, b.regionCosts = order, costs
	return order
}

// meanLatency is the mean latency of the players that have any, 0 without.
func (b *builder) meanLatency(column *column, name uint32) float64 {
	sum, n := 0.0, 0.0
	for _, t := range b.chosen {
		for p := b.pool.first[t]; p < b.pool.first[t+1]; p++ {
			if v := column.amount(p, name); v == v {
				sum, n = sum+v, n+1
			}
		}
	}
	return sum / math.Max(n, 1)
}

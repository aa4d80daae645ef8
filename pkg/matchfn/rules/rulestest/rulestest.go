// Package rulestest is for tests. It says whether a match is one that a rule set allows, and whether a pool of tickets
// holds any. It does what the rules say, one after the other, and knows nothing of how matches are found: it is slow.
package rulestest

import (
	"fmt"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rounding"
	"matchmaker.dev/pkg/matchfn/rules"
)

// Player has values by the name that clients send: float64, string, []string or map[string]float64. A value of another
// type than the rules say counts as missing.
type Player map[string]any

// Ticket is a waiting ticket.
type Ticket struct {
	Age     float64 // in seconds
	Players []Player
}

// Team is a team of a match.
type Team struct {
	Shape   int // the number of its shape
	Tickets []int
	// Roles are the roles of the players of all tickets in their order, nil for a shape without roles.
	Roles []string
}

// Match is a match of tickets of a pool.
type Match struct {
	Teams  []Team
	Region string
}

// Check returns why the rules do not allow a match, or nil if they do.
func Check(r *rules.Rules, pool []Ticket, m Match) error {
	return newGame(r, pool, nil, m).check()
}

func (g *game) check() error {
	r, m := g.rules, g.match
	if err := g.tickets(); err != nil {
		return err
	}
	if err := g.joins(); err != nil {
		return err
	}
	g.times()
	if err := g.shape(); err != nil {
		return err
	}
	for i, t := range m.Teams {
		if err := g.roles(t); err != nil {
			return fmt.Errorf("team %d: %w", i, err)
		}
	}
	if err := g.open(); err != nil {
		return err
	}
	if err := g.region(); err != nil {
		return err
	}
	for i, rule := range r.Rules {
		if g.active(rule.Active) && !g.holds(rule.Need) {
			return fmt.Errorf("rule %d (%s) does not hold", i, rule.Name)
		}
	}
	return nil
}

// game is a match that is looked at.
type game struct {
	rules *rules.Rules
	pool  []Ticket
	match Match
	// running is the game that tickets join, or nil. Tickets from this number on are its members.
	running *Running
	from    int
	// values are the values of the pool's players.
	values *values
	all    []int // tickets
	// ages by clock, and the anchor.
	ages   map[rules.Clock]float64
	anchor int
	// part is set for a part of a match, whose ages are unknown: then each bound is as loose as it can be between
	// youngest and oldest.
	part             bool
	youngest, oldest float64
}

func (g *game) tickets() error {
	for _, team := range g.match.Teams {
		if team.Shape < 0 || team.Shape >= len(g.rules.Teams) {
			return fmt.Errorf("a team has no shape")
		}
		for _, t := range team.Tickets {
			if t < 0 || t >= len(g.pool) || slices.Contains(g.all, t) {
				return fmt.Errorf("ticket %d is there twice, or does not exist", t)
			}
			g.all = append(g.all, t)
			if lacks := g.values.lacks(t); lacks != "" {
				return fmt.Errorf("ticket %d has no %s", t, lacks)
			}
		}
	}
	if len(g.all) == 0 {
		return fmt.Errorf("there are no tickets")
	}
	return nil
}

func (g *game) times() {
	oldest, newest, sum := math.Inf(-1), math.Inf(1), 0.0
	g.anchor = -1
	best, tickets := math.Inf(-1), 0.0
	for _, t := range slices.Sorted(slices.Values(g.all)) {
		if g.member(t) != nil {
			continue
		}
		tickets++
		age := g.pool[t].Age
		oldest, newest, sum = max(oldest, age), min(newest, age), sum+age
		priority := math.Inf(-1)
		if v := g.rules.ValueOf(g.rules.Priority); v != nil {
			for _, has := range g.values.of(v.Name, t) {
				if n, ok := has.(float64); ok {
					priority = max(priority, n)
				}
			}
		}
		if g.anchor < 0 || priority > best || priority == best && age > g.pool[g.anchor].Age {
			g.anchor, best = t, priority
		}
	}
	g.ages = map[rules.Clock]float64{
		rules.Oldest: oldest, rules.Newest: newest, rules.Mean: sum / tickets,
		rules.Anchor: g.pool[g.anchor].Age,
	}
}

// bound is the number of a bound in this match.
func (g *game) bound(b *rules.Bound) (float64, bool) {
	if b == nil {
		return 0, false
	}
	return b.At(g.ages[b.Clock])
}

// least is the number of a lower bound, greatest the number of an upper one.
func (g *game) least(b *rules.Bound) (float64, bool) {
	if !g.part {
		return g.bound(b)
	}
	n, _, off := b.Over(g.youngest, g.oldest)
	return n, !off
}

func (g *game) greatest(b *rules.Bound) (float64, bool) {
	if !g.part {
		return g.bound(b)
	}
	_, n, off := b.Over(g.youngest, g.oldest)
	return n, !off
}

func (g *game) active(b *rules.Bound) bool {
	if b == nil {
		return true
	}
	n, on := g.bound(b)
	return on && n != 0
}

// within reports whether a number is in a range.
func (g *game) within(n float64, r rules.Range) bool { return g.inside(n, r, 0) }

// inside is within for a number that was computed from numbers of a magnitude.
func (g *game) inside(n float64, r rules.Range, magnitude float64) bool {
	least, some := g.least(r.Min)
	if some && n < least-rounding.Of(max(magnitude, math.Abs(least))) {
		return false
	}
	greatest, some := g.greatest(r.Max)
	return !some || n <= greatest+rounding.Of(max(magnitude, math.Abs(greatest)))
}

func (g *game) playersOf(t Team) (n int) {
	for _, ticket := range t.Tickets {
		n += len(g.pool[ticket].Players)
	}
	return n
}

func (g *game) shape() error {
	copies := make([]int, len(g.rules.Teams))
	players := 0
	for i, t := range g.match.Teams {
		copies[t.Shape]++
		n := g.playersOf(t)
		players += n
		if !g.allows(float64(n), g.rules.Teams[t.Shape].Size) {
			return fmt.Errorf("team %d has %d players", i, n)
		}
	}
	for i, n := range copies {
		if !g.within(float64(n), g.rules.Teams[i].Copies) {
			return fmt.Errorf("there are %d teams %s", n, g.rules.Teams[i].Name)
		}
	}
	if !g.allows(float64(players), g.rules.Players) {
		return fmt.Errorf("the match has %d players", players)
	}
	return nil
}

// takes returns for each player of a team which roles of its shape he takes.
func (g *game) takes(t Team) (all [][]bool) {
	shape := g.rules.Teams[t.Shape]
	v := g.rules.ValueOf(g.rules.RoleValue)
	for _, ticket := range t.Tickets {
		for _, has := range g.values.of(v.Name, ticket) {
			takes := make([]bool, len(shape.Roles))
			for i, role := range shape.Roles {
				takes[i] = has == nil || slices.Contains(setOf(has), role.Name) || g.accepts(has, role.Name, ticket)
				if member := g.member(ticket); member != nil && member.Role != "" {
					takes[i] = member.Role == role.Name
				}
			}
			all = append(all, takes)
		}
	}
	return all
}

// accepts reports whether a player takes a role of which a map says how reluctantly, at his ticket's age.
func (g *game) accepts(has any, role string, ticket int) bool {
	roles, _ := has.(map[string]float64)
	reluctantly, known := roles[role]
	if !known {
		return false
	}
	most, on := g.rules.RoleMax.At(g.pool[ticket].Age)
	return !on || rounding.AtMost(reluctantly, most)
}

func (g *game) roles(t Team) error {
	shape := g.rules.Teams[t.Shape]
	if len(shape.Roles) == 0 {
		if t.Roles != nil {
			return fmt.Errorf("has roles, and its shape has none")
		}
		return nil
	}
	takes := g.takes(t)
	if len(t.Roles) != len(takes) {
		return fmt.Errorf("has %d roles for %d players", len(t.Roles), len(takes))
	}
	counts := make([]int, len(shape.Roles))
	for p, name := range t.Roles {
		i := slices.IndexFunc(shape.Roles, func(r rules.Role) bool { return r.Name == name })
		if i < 0 || !takes[p][i] {
			return fmt.Errorf("player %d does not take the role %q", p, name)
		}
		counts[i]++
	}
	for i, n := range counts {
		if !g.allows(float64(n), shape.Roles[i].Count) {
			return fmt.Errorf("has the role %s %d times", shape.Roles[i].Name, n)
		}
	}
	return nil
}

func (g *game) region() error {
	if g.rules.RegionValue == "" {
		if g.match.Region != "" {
			return fmt.Errorf("has a region, and the rules have none")
		}
		return nil
	}
	if g.running != nil && (g.running.Region == "" || g.match.Region != g.running.Region) {
		return fmt.Errorf("the region is %q, and that of the game %q", g.match.Region, g.running.Region)
	}
	if g.match.Region != "" && !g.rules.MayBeIn(g.match.Region) {
		return fmt.Errorf("has the region %q, which no match may have", g.match.Region)
	}
	known := g.running != nil
	for _, t := range g.all {
		for _, has := range g.values.of(g.rules.RegionValue, t) {
			if has == nil {
				continue
			}
			if _, known = has.(map[string]float64)[g.match.Region]; !known || g.match.Region == "" {
				return fmt.Errorf("ticket %d does not know the region %q", t, g.match.Region)
			}
		}
	}
	if !known && g.match.Region != "" && !g.part {
		return fmt.Errorf("has the region %q, of which nobody has a latency", g.match.Region)
	}
	return nil
}

package trial

import (
	"math"
	"slices"
	"time"

	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/world"
)

// Measures are what the players of one run got. A player's wait ends when he is matched or leaves.
type Measures struct {
	game *world.Game

	// Of players that were measured.
	Players, Abandoned int
	Waits              Sample
	Deciles            [10]Group
	Regions            [world.Regions]Group
	Parties            []Group // by size, from 1
	Tail               Group   // the lowest and the highest 2 % of skill
	TailSpread         Sample  // of their matches, once for each of them
	Ping, PingOver     Sample  // to the region of the match, and above that to the best one

	// Of matches with a measured player.
	Matches int
	Spread  Sample // the greatest skill less the least
	Gap     Sample // the difference of the teams' means
	Favored Sample // how probably the better team wins
	Uneven  int    // the better team wins with more than 60 %
	// RolesOff are the matches in which a team does not have the roles of the game, PartiesOff those in which the largest
	// parties of the teams have different sizes.
	RolesOff, PartiesOff int
	// Violations are matches that the judge refuses, First is why the first is refused.
	Violations int
	First      error

	// Told are the tickets of which an estimate of the wait was told and that did not leave, and Held those that waited
	// as long as that range.
	Told, Held int

	Runs    int
	Took    time.Duration
	Slowest time.Duration
	Largest int // pool
}

// Group is a part of the players.
type Group struct {
	Waits     Sample
	Abandoned int
}

// Sample is numbers. They are sorted when the run is over.
type Sample []float64

// At is a quantile. It is not a number without any.
func (s Sample) At(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// Mean is the mean, not a number without any.
func (s Sample) Mean() float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum / float64(len(s))
}

func newMeasures(g *world.Game) *Measures {
	return &Measures{game: g, Parties: make([]Group, g.Size)}
}

func (m *Measures) ran(took time.Duration, pool int) {
	m.Runs++
	m.Took += took
	m.Slowest = max(m.Slowest, took)
	m.Largest = max(m.Largest, pool)
}

// wait counts a ticket's players, whose wait ended.
func (m *Measures) wait(t *world.Ticket, seconds float64, abandoned bool) {
	for i := range t.Players {
		m.Players++
		m.Waits = append(m.Waits, seconds)
		if abandoned {
			m.Abandoned++
		}
		groups := []*Group{
			&m.Deciles[world.Decile(t.Players[i].Skill)], &m.Regions[t.Home], &m.Parties[len(t.Players)-1],
		}
		if world.Tail(t.Players[i].Skill) {
			groups = append(groups, &m.Tail)
		}
		for _, g := range groups {
			g.Waits = append(g.Waits, seconds)
			if abandoned {
				g.Abandoned++
			}
		}
	}
}

func (m *Measures) told(told, held int) { m.Told, m.Held = m.Told+told, m.Held+held }

func (m *Measures) leave(t *world.Ticket) { m.wait(t, t.Leaves-t.Arrives, true) }

// match counts a match if one of its players is measured.
func (m *Measures) match(now float64, waiting []*world.Ticket, match engine.Match, why error) {
	measured := false
	least, most := math.Inf(1), math.Inf(-1)
	var means, largest []float64
	rolesOff, tails := false, 0
	for _, team := range match.Teams {
		sum, n, party := 0.0, 0.0, 0.0
		roles := make([]int, max(1, len(m.game.Roles)))
		for _, at := range team {
			t := waiting[at]
			party = max(party, float64(len(t.Players)))
			for i := range t.Players {
				p := &t.Players[i]
				sum, n = sum+p.Skill, n+1
				least, most = math.Min(least, p.Skill), math.Max(most, p.Skill)
				roles[p.Role]++
				if t.Measured && world.Tail(p.Skill) {
					tails++
				}
				if t.Measured && match.Region >= 0 {
					m.Ping = append(m.Ping, p.Ping[match.Region])
					m.PingOver = append(m.PingOver, p.Ping[match.Region]-slices.Min(p.Ping[:]))
				}
			}
			if t.Measured {
				measured = true
				m.wait(t, world.Age(now, t), false)
			}
		}
		means, largest = append(means, sum/n), append(largest, party)
		for i, role := range m.game.Roles {
			rolesOff = rolesOff || roles[i] != role.Count
		}
	}
	if !measured {
		return
	}
	m.Matches++
	for range tails {
		m.TailSpread = append(m.TailSpread, most-least)
	}
	gap := slices.Max(means) - slices.Min(means)
	favored := 1 / (1 + math.Pow(10, -gap/400))
	m.Spread, m.Gap, m.Favored = append(m.Spread, most-least), append(m.Gap, gap), append(m.Favored, favored)
	if favored > 0.6 {
		m.Uneven++
	}
	if rolesOff {
		m.RolesOff++
	}
	if slices.Max(largest) != slices.Min(largest) {
		m.PartiesOff++
	}
	if why != nil {
		if m.Violations++; m.First == nil {
			m.First = why
		}
	}
}

// finish sorts the samples.
func (m *Measures) finish() {
	for _, s := range []Sample{m.Waits, m.Ping, m.PingOver, m.Spread, m.Gap, m.Favored} {
		slices.Sort(s)
	}
	for _, groups := range [][]Group{m.Deciles[:], m.Regions[:], m.Parties, {m.Tail}} {
		for i := range groups {
			slices.Sort(groups[i].Waits)
		}
	}
}

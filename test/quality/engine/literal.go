package engine

import (
	"math"

	"matchmaker.dev/services/test/quality/world"
)

// The literal readings were written before the function rules was tuned by what they measure, and are frozen since.
// Each does what the documentation of a matchmaker says that it does, in its simplest form: the oldest ticket is the
// anchor, others are added to it one after another, what does not fit is skipped, and nothing is tried twice.

// draft is a match that is being made.
type draft struct {
	game    *world.Game
	now     float64
	waiting []*world.Ticket
	teams   [][]int
	players []int   // of each team
	roles   [][]int // of each team, how many have the role
	chosen  []int
}

func newDraft(g *world.Game, now float64, waiting []*world.Ticket) *draft {
	d := &draft{game: g, now: now, waiting: waiting}
	d.teams, d.players, d.roles = make([][]int, g.Teams), make([]int, g.Teams), make([][]int, g.Teams)
	for i := range d.roles {
		d.roles[i] = make([]int, len(g.Roles))
	}
	return d
}

func (d *draft) age(t int) float64 { return world.Age(d.now, d.waiting[t]) }

// room reports whether a team has room for a ticket. With roles, that is room for the role of each player.
func (d *draft) room(team, t int, roles bool) bool {
	if d.players[team]+len(d.waiting[t].Players) > d.game.Size {
		return false
	}
	return !roles || d.game.Roles == nil || d.changeRoles(team, t, 1, func() bool {
		for i, role := range d.game.Roles {
			if d.roles[team][i] > role.Count {
				return false
			}
		}
		return true
	})
}

// changeRoles counts a ticket's roles while look looks.
func (d *draft) changeRoles(team, t, by int, look func() bool) bool {
	for i := range d.waiting[t].Players {
		d.roles[team][d.waiting[t].Players[i].Role] += by
	}
	ok := look()
	for i := range d.waiting[t].Players {
		d.roles[team][d.waiting[t].Players[i].Role] -= by
	}
	return ok
}

func (d *draft) add(team, t int) {
	d.teams[team] = append(d.teams[team], t)
	d.chosen = append(d.chosen, t)
	d.players[team] += len(d.waiting[t].Players)
	if d.game.Roles != nil {
		for i := range d.waiting[t].Players {
			d.roles[team][d.waiting[t].Players[i].Role]++
		}
	}
}

// drop takes back the last ticket that was added to a team.
func (d *draft) drop(team int) {
	n := len(d.teams[team]) - 1
	t := d.teams[team][n]
	d.teams[team] = d.teams[team][:n]
	d.chosen = d.chosen[:len(d.chosen)-1]
	d.players[team] -= len(d.waiting[t].Players)
	if d.game.Roles != nil {
		for i := range d.waiting[t].Players {
			d.roles[team][d.waiting[t].Players[i].Role]--
		}
	}
}

// open returns the team with the most open slots that has room for a ticket, or -1.
func (d *draft) open(t int, roles bool) int {
	best := -1
	for team := range d.teams {
		if (best < 0 || d.players[team] < d.players[best]) && d.room(team, t, roles) {
			best = team
		}
	}
	return best
}

// first returns the first team that has room for a ticket, or -1.
func (d *draft) first(t int, roles bool) int {
	for team := range d.teams {
		if d.room(team, t, roles) {
			return team
		}
	}
	return -1
}

func (d *draft) full() bool {
	for _, n := range d.players {
		if n < d.game.Size {
			return false
		}
	}
	return true
}

// mean is the mean of a team's players.
func (d *draft) mean(team int) float64 {
	sum, n := 0.0, 0.0
	for _, t := range d.teams[team] {
		for i := range d.waiting[t].Players {
			sum, n = sum+d.waiting[t].Players[i].Skill, n+1
		}
	}
	return sum / n
}

// gap is the difference of the teams' means, of those that have players.
func (d *draft) gap() float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for team := range d.teams {
		if d.players[team] > 0 {
			mean := d.mean(team)
			least, most = math.Min(least, mean), math.Max(most, mean)
		}
	}
	return most - least
}

// merged is a ticket's ping to a region: the mean of its players.
func merged(t *world.Ticket, region int) float64 {
	sum := 0.0
	for i := range t.Players {
		sum += t.Players[i].Ping[region]
	}
	return sum / float64(len(t.Players))
}

// worst is a ticket's ping to a region: the greatest ping of its players.
func worst(t *world.Ticket, region int) (most float64) {
	for i := range t.Players {
		most = math.Max(most, t.Players[i].Ping[region])
	}
	return most
}

// region returns the region with the least worst ping of those that fit all, or -1.
func (d *draft) region(fits func(t, region int) bool) int {
	best, least := -1, math.Inf(1)
	for region := range world.Regions {
		most, all := 0.0, true
		for _, t := range d.chosen {
			if all = fits(t, region); !all {
				break
			}
			most = math.Max(most, worst(d.waiting[t], region))
		}
		if all && most < least {
			best, least = region, most
		}
	}
	return best
}

// oldest is the greatest age.
func (d *draft) oldest() (most float64) {
	for _, t := range d.chosen {
		most = math.Max(most, d.age(t))
	}
	return most
}

// greedy lets each ticket be the anchor in turn, the oldest first, and keeps the matches that build makes. It is told
// which tickets are in a match already.
func greedy(waiting []*world.Ticket, build func(anchor int, taken []bool) (Match, bool)) (matches []Match) {
	taken := make([]bool, len(waiting))
	for anchor := range waiting {
		if taken[anchor] {
			continue
		}
		if m, ok := build(anchor, taken); ok {
			matches = append(matches, m)
			for _, team := range m.Teams {
				for _, t := range team {
					taken[t] = true
				}
			}
		}
	}
	return matches
}

package rulestest

import (
	"fmt"
	"math"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Running is a game that runs.
type Running struct {
	// Age is the age of the game in seconds. It is no age of a ticket: clocks follow the tickets that join.
	Age     float64
	Members []Member
	// Region is where the game runs. It must have one if the rules have regions.
	Region string
	// Room is how many players may join; negative for as many as the rules allow.
	Room int
	// Barred are the tickets of the pool that must not join.
	Barred []int
}

// Member is a player in a running game. What roles he takes and which latencies he has is not known. The team and the
// role are empty if they are not known either.
type Member struct {
	Player
	Team, Role string
}

// CheckJoin returns why the rules do not allow that tickets of a pool join a game, or nil if they do. The match is the
// whole game: its members are tickets of their own, whose numbers follow the pool's.
func CheckJoin(r *rules.Rules, pool []Ticket, running *Running, m Match) error {
	return newGame(r, pool, running, m).check()
}

// FindJoin is Find for tickets of a pool that join a game.
func FindJoin(r *rules.Rules, pool []Ticket, running *Running, most int) (m Match, found, told bool) {
	return newTrial(r, pool, running).find(most)
}

// newGame makes a game to look at. running is nil for a new match.
func newGame(r *rules.Rules, pool []Ticket, running *Running, m Match) *game {
	g := &game{rules: r, running: running, from: len(pool), match: m}
	g.pool = withMembers(pool, running)
	g.values = &values{rules: r, pool: g.pool, from: g.from}
	return g
}

// withMembers adds the members of a game as tickets of their own.
func withMembers(pool []Ticket, running *Running) []Ticket {
	if running == nil {
		return pool
	}
	pool = slices.Clone(pool)
	for _, m := range running.Members {
		pool = append(pool, Ticket{Age: math.NaN(), Players: []Player{m.Player}})
	}
	return pool
}

// member returns a ticket as a player in the game, or nil.
func (g *game) member(ticket int) *Member {
	if ticket < g.from {
		return nil
	}
	return &g.running.Members[ticket-g.from]
}

// joins looks at which ticket joins which game.
func (g *game) joins() error {
	if g.running == nil {
		return nil
	}
	if active := g.rules.Backfill.Active; active != nil {
		if n, on := active.At(g.running.Age); !on || n == 0 {
			return fmt.Errorf("the game is not filled at its age")
		}
	}
	if len(g.running.Members) == 0 {
		return fmt.Errorf("nobody is in the game")
	}
	joining, members := 0, 0
	copies := make([]int, len(g.rules.Teams))
	for _, team := range g.match.Teams {
		copies[team.Shape]++
		name := g.rules.Teams[team.Shape].Called(copies[team.Shape])
		for _, t := range team.Tickets {
			member := g.member(t)
			switch {
			case member == nil:
				joining += len(g.pool[t].Players)
				if slices.Contains(g.running.Barred, t) {
					return fmt.Errorf("ticket %d must not join", t)
				}
			case member.Team != "" && member.Team != name:
				return fmt.Errorf("member %d is in the team %s, not %s", t-g.from, member.Team, name)
			default:
				members++
			}
		}
	}
	switch {
	case joining == 0:
		return fmt.Errorf("nobody joins")
	case members != len(g.running.Members):
		return fmt.Errorf("%d of %d members are in teams", members, len(g.running.Members))
	case g.running.Room >= 0 && joining > g.running.Room:
		return fmt.Errorf("%d players join, and there is room for %d", joining, g.running.Room)
	}
	return nil
}

// open looks at the places that stay open in a game. They must still be places for players that may come.
func (g *game) open() error {
	if g.running == nil {
		return nil
	}
	players, open := 0.0, 0.0
	for i, team := range g.match.Teams {
		n, lacking := float64(g.playersOf(team)), g.lacking(team)
		shape := g.rules.Teams[team.Shape]
		if least, on := g.bound(shape.Size.Min); on {
			lacking = max(lacking, math.Ceil(least)-n)
		}
		if most, on := g.bound(shape.Size.Max); on && n+lacking > most {
			return fmt.Errorf("team %d lacks %v players, and has no places for them", i, lacking)
		}
		players, open = players+n, open+lacking
	}
	if most, on := g.bound(g.rules.Players.Max); on && players+open > most {
		return fmt.Errorf("the teams lack %v players, and the game has no places for them", open)
	}
	if least, on := g.bound(g.rules.Players.Min); on {
		open = max(open, math.Ceil(least)-players)
	}
	if most, on := g.bound(g.rules.Backfill.Open); on && open > most {
		return fmt.Errorf("%v places stay open", open)
	}
	return nil
}

// lacking returns how many players the roles of a team lack.
func (g *game) lacking(team Team) (lacking float64) {
	for _, role := range g.rules.Teams[team.Shape].Roles {
		has := 0
		for _, name := range team.Roles {
			if name == role.Name {
				has++
			}
		}
		if least, on := g.bound(role.Count.Min); on {
			lacking += max(0, math.Ceil(least)-float64(has))
		}
	}
	return lacking
}

// allows reports whether a number is in a range, or at most its end in a game, where places may stay open.
func (g *game) allows(n float64, r rules.Range) bool {
	if g.running != nil {
		r.Min = nil
	}
	return g.within(n, r)
}

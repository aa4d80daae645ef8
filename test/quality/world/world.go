// Package world generates players that come to play: their skill, parties, roles, pings, and how long they wait before
// they leave. A world and a seed give the same players again. The numbers are calibrated on published figures, which
// docs/quality.md names.
package world

import (
	"math"
	"math/rand/v2"
	"strconv"

	"matchmaker.dev/services/lab/population"
)

// Regions is how many regions there are.
const Regions = population.Regions

// Player is a player of a ticket.
type Player struct {
	Skill float64
	Role  int              // of Game.Roles; 0 without roles
	Ping  [Regions]float64 // in ms
}

// Ticket is a party that comes, or a player alone.
type Ticket struct {
	// Arrives and Leaves are seconds since the world began. A ticket that is not matched leaves.
	Arrives, Leaves float64
	Players         []Player
	// Home is the region with the least ping.
	Home int
	// Measured tickets count. Those before have no crowd yet, those after are there for the ones before.
	Measured bool
}

// Age is how long a ticket has waited, to the millisecond.
func Age(now float64, t *Ticket) float64 { return math.Round(1000*(now-t.Arrives)) / 1000 }

// Skill is the mean of the players' skill.
func (t *Ticket) Skill() float64 {
	sum := 0.0
	for _, p := range t.Players {
		sum += p.Skill
	}
	return sum / float64(len(t.Players))
}

// World is which players come to play what.
type World struct {
	Name, About string
	Game        Game
	// Rate is the players a second at the peak of the day, of all cities, and Hour the time of day in UTC at which the
	// world begins. In a steady world it is always so many.
	Rate, Hour float64
	Steady     bool
	// Measure is the seconds in which tickets that come are measured, Before those before. Others come after, until the
	// last of the measured ones is matched or has left.
	Before, Measure float64
	// Every is the seconds between runs of the match function.
	Every float64
	// Cities are where players live: their positions in the list of all.
	Cities []int
	// Large worlds are not played unless asked for.
	Large bool
}

// after is how long others come after the measured ones.
func (w *World) after() float64 {
	if w.Large {
		return 120
	}
	return MaxPatience
}

// MaxPatience is for how many seconds a ticket waits at most.
const MaxPatience = population.MaxPatience

// Of skill: 1500 is the median, and 96 in 100 are below 2200.
const (
	meanSkill, deviation  = 1500.0, 400.0
	leastSkill, mostSkill = 400.0, 3000.0
	withinParty           = 120.0
)

// Tickets generates the tickets of a world in the order of their arrival.
func (w *World) Tickets(seed uint64) []Ticket {
	r := rand.New(rand.NewPCG(seed, 0x7a1e)) //nolint:gosec // the same seed gives the same players
	sizes := w.Game.parties()
	mean := 0.0
	for i, share := range sizes {
		mean += share * float64(i+1)
	}
	// Tickets come as a Poisson process at the greatest rate, which is thinned by the hour of each city.
	var tickets []Ticket
	peak := w.Rate / mean
	end := w.Before + w.Measure
	for at := r.ExpFloat64() / peak; at < end+w.after(); at += r.ExpFloat64() / peak {
		city := population.Pick(r, w.Cities)
		if !w.Steady && r.Float64() > population.Day(w.Hour+at/3600+city.Offset) {
			continue
		}
		t := w.ticket(r, city, 1+population.Choose(r, sizes))
		t.Arrives = math.Round(1000*at) / 1000
		t.Leaves = at + population.Patience(r)
		t.Measured = at >= w.Before && at < end
		tickets = append(tickets, t)
	}
	return tickets
}

func (w *World) ticket(r *rand.Rand, c *population.City, players int) Ticket {
	t := Ticket{Players: make([]Player, players)}
	leader := truncated(r, meanSkill, deviation)
	left := make([]int, len(w.Game.Roles))
	for i, role := range w.Game.Roles {
		left[i] = role.Count
	}
	for i := range t.Players {
		p := &t.Players[i]
		if p.Skill = leader; i > 0 {
			p.Skill = truncated(r, leader, withinParty)
		}
		p.Role = w.Game.role(r, left)
		p.Ping = c.Pings(r)
	}
	for region := range Regions {
		if t.worst(region) < t.worst(t.Home) {
			t.Home = region
		}
	}
	return t
}

func (t *Ticket) worst(region int) (most float64) {
	for _, p := range t.Players {
		most = math.Max(most, p.Ping[region])
	}
	return most
}

// truncated is a whole number of a normal distribution.
func truncated(r *rand.Rand, mean, deviation float64) float64 {
	for {
		if v := math.Round(mean + deviation*r.NormFloat64()); v >= leastSkill && v <= mostSkill {
			return v
		}
	}
}

// Decile is in which tenth of all players a skill is, from 0.
func Decile(skill float64) int {
	z := (skill - meanSkill) / deviation
	return min(9, int(10*0.5*math.Erfc(-z/math.Sqrt2)))
}

// Tail reports whether a skill is among the lowest or the highest 2 % of all players.
func Tail(skill float64) bool { return math.Abs(skill-meanSkill) > 2.054*deviation }

// text is a number as JSON has it.
func text(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

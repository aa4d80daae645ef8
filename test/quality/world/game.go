package world

import (
	"math/rand/v2"

	"matchmaker.dev/services/lab/population"
)

// Game is what is played, and what a match must be like. All engines get the same demands, each in its own words.
type Game struct {
	Teams, Size int
	// Roles have names and how many of them a team has, or are nil.
	Roles []Role
	// Spread bounds the skill in a match, Gap the difference of the teams' means, Ping the latency.
	Spread, Gap, Ping Bound
	// Tuned is the patience with which spread and gap are about as great as with the steps, if it is known.
	Tuned Patience
}

// tunedBy returns the game with a patience.
func (g Game) tunedBy(p Patience) Game {
	g.Tuned = p
	return g
}

// Patience is how tickets wait for nearer matches.
type Patience struct {
	Until, Worth float64 // in seconds
	// Over is how much a ticket's latency may be above its least at first, in ms.
	Over float64
}

// Role is a role in a team. Share is how many players want it.
type Role struct {
	Name  string
	Count int
	Share float64
}

// Bound is a number that becomes others after some seconds.
type Bound struct {
	Start float64
	Steps [][2]float64 // seconds and number
}

// At is the number after some seconds.
func (b Bound) At(age float64) float64 {
	n := b.Start
	for _, s := range b.Steps {
		if age >= s[0] {
			n = s[1]
		}
	}
	return n
}

// Last is the number at last.
func (b Bound) Last() float64 { return b.At(MaxPatience) }

// times multiplies all numbers.
func (b Bound) times(by float64) Bound {
	scaled := Bound{Start: b.Start * by}
	for _, s := range b.Steps {
		scaled.Steps = append(scaled.Steps, [2]float64{s[0], s[1] * by})
	}
	return scaled
}

// Players is how many a match has.
func (g *Game) Players() int { return g.Teams * g.Size }

// Scaled returns the game with other bounds of skill.
func (g Game) Scaled(by float64) Game {
	g.Spread, g.Gap = g.Spread.times(by), g.Gap.times(by)
	return g
}

// parties is the shares of tickets by the number of their players.
func (g *Game) parties() []float64 { return population.PartySizes(g.Size) }

// role draws a role of which a party does not have as many as a team yet.
func (g *Game) role(r *rand.Rand, left []int) int {
	if len(g.Roles) == 0 {
		return 0
	}
	shares, sum := make([]float64, len(g.Roles)), 0.0
	for i, role := range g.Roles {
		if left[i] > 0 {
			shares[i] = role.Share
			sum += role.Share
		}
	}
	for i := range shares {
		shares[i] /= sum
	}
	role := population.Choose(r, shares)
	left[role]--
	return role
}

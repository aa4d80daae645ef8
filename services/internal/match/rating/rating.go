// Package rating estimates the skill of players from the results of their matches.
//
// A Model is one of the published methods: the three of Weng and Lin ("A Bayesian Approximation Method for Online
// Ranking", 2011), Glickman's Glicko-2, or TrueSkill (Herbrich, Minka, Graepel, 2007). The last and the first rate
// teams of any number and size, with draws. Glicko-2 rates a player against each other team as if that were one player
// of its mean skill.
package rating

import (
	"fmt"
	"math"
	"slices"
)

// Rating is what is known of a player's skill: its mean and its standard deviation. Volatility is Glicko-2's alone.
type Rating struct{ Mean, Deviation, Volatility float64 }

// Team is a team of a match that ended.
type Team struct {
	Players []Rating
	// Rank is its place, the least is the best. Teams with the same rank drew.
	Rank int
	// Score is used with Settings.Margin alone.
	Score float64
}

// Model rates players.
type Model interface {
	// Rate returns the ratings of all players after a match of at least two teams, each of at least one player.
	Rate(teams []Team) [][]Rating
	// Odds returns the chance of each team to win, before the match. With more than two teams it is the mean of the
	// chances against each other team, in relation to all.
	Odds(teams []Team) []float64
	// Rest returns the rating of a player after a time without matches, in units of the rating period.
	Rest(r Rating, periods float64) Rating
}

// Names of models.
const (
	PlackettLuce       = "plackettLuce"
	BradleyTerry       = "bradleyTerry"
	ThurstoneMosteller = "thurstoneMosteller"
	Glicko2            = "glicko2"
	TrueSkill          = "trueSkill"
)

// Settings are a model and its parameters. What is 0 has the default that Complete sets.
type Settings struct {
	Model string
	// Mean and Deviation are what a player begins with.
	Mean, Deviation float64
	// Beta is by how much the performance of a player differs from match to match; not for Glicko-2.
	Beta float64
	// Tau is what each match adds to a deviation, as a variance has it: by how much skill changes. Of Glicko-2 it is
	// the constant that limits how fast the volatility changes.
	Tau float64
	// Volatility is what a player begins with in Glicko-2: how much the skill varies in a rating period.
	Volatility float64
	// Growth is what a period of rest adds to a deviation, as Tau does; in Glicko-2 the volatility does that.
	Growth float64
	// Draw is the chance of a draw between equal teams, for TrueSkill, and the margin of a draw, in units of skill, for
	// Thurstone-Mosteller.
	Draw float64
	// Margin, when it is set, makes a change of the mean the greater the further the scores are apart: by the factor
	// 1 + ln(1 + what is above the margin). Only for the models of Weng and Lin.
	Margin *float64
}

// Complete returns the settings with a default for each parameter that is not set.
func (s Settings) Complete() Settings {
	set := func(value *float64, otherwise float64) {
		if *value == 0 {
			*value = otherwise
		}
	}
	if s.Model == Glicko2 {
		set(&s.Mean, 1500)
		set(&s.Deviation, 350)
		set(&s.Volatility, 0.06)
		set(&s.Tau, 0.5)
		return s
	}
	set(&s.Mean, 25)
	set(&s.Deviation, s.Mean/3)
	set(&s.Beta, s.Deviation/2)
	set(&s.Tau, s.Deviation/100)
	if s.Model == ThurstoneMosteller || s.Model == TrueSkill {
		set(&s.Draw, 0.1)
	}
	return s
}

// Start is the rating that a player begins with.
func (s Settings) Start() Rating { return Rating{s.Mean, s.Deviation, s.Volatility} }

// New returns the model of settings that are complete, or says what is wrong with them.
func New(s Settings) (Model, error) {
	for _, p := range []struct {
		name        string
		value       float64
		low, high   float64
		onlyOfModel []string
	}{
		{name: "mean", value: s.Mean, low: -1e6, high: 1e6},
		{name: "deviation", value: s.Deviation, low: 1e-3, high: 1e6},
		{name: "beta", value: s.Beta, low: 1e-3, high: 1e6,
			onlyOfModel: []string{PlackettLuce, BradleyTerry, ThurstoneMosteller, TrueSkill}},
		{name: "tau", value: s.Tau, low: 0, high: 1e6},
		{name: "growth", value: s.Growth, low: 0, high: 1e6,
			onlyOfModel: []string{PlackettLuce, BradleyTerry, ThurstoneMosteller, TrueSkill}},
		{name: "volatility", value: s.Volatility, low: 1e-6, high: 1, onlyOfModel: []string{Glicko2}},
		{name: "draw", value: s.Draw, low: 0, high: 0.99, onlyOfModel: []string{TrueSkill}},
	} {
		if p.onlyOfModel != nil && !slices.Contains(p.onlyOfModel, s.Model) {
			continue
		}
		if !(p.value >= p.low && p.value <= p.high) {
			return nil, fmt.Errorf("%s: %v is not between %v and %v", p.name, p.value, p.low, p.high)
		}
	}
	switch s.Model {
	case PlackettLuce, BradleyTerry, ThurstoneMosteller:
		return wengLin{s}, nil
	case Glicko2:
		return glicko{s}, nil
	case TrueSkill:
		return trueSkill{s}, nil
	}
	return nil, fmt.Errorf("model: %q is none of %s, %s, %s, %s, %s", s.Model, PlackettLuce, BradleyTerry,
		ThurstoneMosteller, Glicko2, TrueSkill)
}

// rest adds the variance that a time without matches brings.
func (s Settings) rest(r Rating, periods float64) Rating {
	r.Deviation = min(math.Sqrt(r.Deviation*r.Deviation+max(0, periods)*s.Growth*s.Growth), max(s.Deviation, r.Deviation))
	return r
}

// sums returns the sums of the means and of the variances of a team.
func (t *Team) sums() (mean, variance float64) {
	for _, p := range t.Players {
		mean += p.Mean
		variance += p.Deviation * p.Deviation
	}
	return mean, variance
}

// odds returns the chance of each team from the chance of one against another one.
func odds(teams []Team, beats func(a, b *Team) float64) []float64 {
	n := len(teams)
	chances := make([]float64, n)
	for i := range teams {
		for j := i + 1; j < n; j++ {
			p := beats(&teams[i], &teams[j])
			chances[i] += p
			chances[j] += 1 - p
		}
	}
	for i := range chances {
		chances[i] /= float64(n*(n-1)) / 2
	}
	return chances
}

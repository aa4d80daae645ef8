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
	"strings"
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

// Models returns the names of all models.
func Models() []string {
	return []string{PlackettLuce, BradleyTerry, ThurstoneMosteller, Glicko2, TrueSkill}
}

// Settings are a model and its parameters. Those that a model has not are 0.
type Settings struct {
	Model string
	// Mean and Deviation are what a player begins with.
	Mean, Deviation float64
	// Beta is by how much the performance of a player differs from match to match; not of Glicko-2.
	Beta float64
	// Tau is what each match adds to a deviation, as variances add up: by how much skill changes. Of Glicko-2 it is the
	// constant that limits how fast the volatility changes.
	Tau float64
	// Growth is what a period of rest adds to a deviation in the same way; in Glicko-2 the volatility does that.
	Growth float64
	// Draw is the chance of a draw between equal teams in TrueSkill, and the margin of a draw, in units of skill, in
	// Thurstone-Mosteller. Others have none.
	Draw float64
	// Volatility is what a player begins with in Glicko-2: how much the skill varies in a period.
	Volatility float64
	// Margin, when it is set, makes a change of the mean the greater the further the scores are apart: by the factor
	// 1 + ln(1 + what is above the margin). Only of the models of Weng and Lin.
	Margin *float64
}

// Defaults returns a model with the parameters that its authors suggest, or says that there is no such model.
func Defaults(model string) (Settings, error) {
	s := Settings{Model: model, Mean: 25, Deviation: 25. / 3, Beta: 25. / 6, Tau: 25. / 300}
	switch model {
	case PlackettLuce, BradleyTerry:
	case ThurstoneMosteller, TrueSkill:
		s.Draw = 0.1
	case Glicko2:
		s = Settings{Model: model, Mean: 1500, Deviation: 350, Tau: 0.5, Volatility: 0.06}
	default:
		return Settings{}, fmt.Errorf("%q is none of %s", model, strings.Join(Models(), ", "))
	}
	return s, nil
}

// With returns a model with these parameters, and the defaults of the others, or says what is wrong with them.
func With(model string, parameters map[string]float64) (Settings, error) {
	s, err := Defaults(model)
	if err != nil {
		return s, fmt.Errorf("model: %w", err)
	}
	fields := map[string]*float64{"mean": &s.Mean, "deviation": &s.Deviation, "beta": &s.Beta, "tau": &s.Tau,
		"growth": &s.Growth, "draw": &s.Draw, "margin": new(float64), "volatility": &s.Volatility}
	for name, value := range parameters {
		to := fields[name]
		if to == nil {
			return s, fmt.Errorf("%q is no parameter", name)
		}
		if *to = value; name == "margin" {
			s.Margin = to
		}
	}
	_, err = New(s)
	return s, err
}

// Start is the rating that a player begins with.
func (s Settings) Start() Rating { return Rating{s.Mean, s.Deviation, s.Volatility} }

// New returns the model of settings, or says what is wrong with them.
func New(s Settings) (Model, error) {
	if _, err := Defaults(s.Model); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	ofGlicko := s.Model == Glicko2
	for _, p := range []struct {
		name             string
		value, low, high float64
		has              bool
	}{
		{"mean", s.Mean, -1e6, 1e6, true},
		{"deviation", s.Deviation, 1e-3, 1e6, true},
		{"beta", s.Beta, 1e-3, 1e6, !ofGlicko},
		{"tau", s.Tau, 0, 1e6, !ofGlicko},
		{"tau", s.Tau, 0.01, 10, ofGlicko},
		{"growth", s.Growth, 0, 1e6, !ofGlicko},
		{"draw", s.Draw, 0, 1e6, s.Model == ThurstoneMosteller},
		{"draw", s.Draw, 0, 0.99, s.Model == TrueSkill},
		{"volatility", s.Volatility, 1e-3, 1, ofGlicko},
	} {
		if p.has && !(p.value >= p.low && p.value <= p.high) { // also what is not a number
			return nil, fmt.Errorf("%s: %v is not from %v to %v", p.name, p.value, p.low, p.high)
		}
	}
	weighs := false
	var m Model
	switch s.Model {
	case Glicko2:
		m = glicko{s}
	case TrueSkill:
		m = trueSkill{s}
	default:
		m, weighs = wengLin{s}, true
	}
	switch {
	case s.Volatility != 0 && !ofGlicko:
		return nil, fmt.Errorf("volatility: %s has none", s.Model)
	case ofGlicko && s.Beta != 0:
		return nil, fmt.Errorf("beta: %s has none", s.Model)
	case ofGlicko && s.Growth != 0:
		return nil, fmt.Errorf("growth: %s has none: its volatility is that", s.Model)
	case s.Draw != 0 && s.Model != ThurstoneMosteller && s.Model != TrueSkill:
		return nil, fmt.Errorf("draw: %s has none", s.Model)
	case s.Margin != nil && !weighs:
		return nil, fmt.Errorf("margin: %s has none", s.Model)
	case s.Margin != nil && !(*s.Margin >= 0 && *s.Margin <= 1e6):
		return nil, fmt.Errorf("margin: %v is not from 0 to 1e6", *s.Margin)
	}
	return m, nil
}

// Rest implements Model: it adds the variance that a time without matches brings.
func (s Settings) Rest(r Rating, periods float64) Rating {
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

// outcome is the result of a pair for a team that is ahead of the other (1), beside it (0) or behind it (-1): 1 if it
// won, and 0.5 for a draw.
func outcome(ahead int) float64 {
	switch {
	case ahead > 0:
		return 1
	case ahead == 0:
		return 0.5
	}
	return 0
}

// beats returns the chance of a team against another one, where n performances differ by Beta.
func (s Settings) beats(a, b *Team, n int) float64 {
	am, av := a.sums()
	bm, bv := b.sums()
	return cumulative((am - bm) / math.Sqrt(float64(n)*s.Beta*s.Beta+av+bv))
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

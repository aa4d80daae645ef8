package rating

import (
	"cmp"
	"math"
)

// leastVariance is the least part of its variance that a rating keeps in a match.
const leastVariance = 1e-4

// wengLin are the methods of Weng and Lin.
type wengLin struct{ Settings }

// side is a team as the methods see it.
type side struct{ mean, variance float64 }

// Rate implements Model.
func (m wengLin) Rate(teams []Team) [][]Rating {
	before := make([]Team, len(teams))
	sides := make([]side, len(teams))
	for i := range teams {
		before[i] = Team{Players: m.uncertain(teams[i].Players)}
		sides[i].mean, sides[i].variance = before[i].sums()
	}
	after := make([][]Rating, len(teams))
	for i := range teams {
		var omega, delta float64
		if m.Model == PlackettLuce {
			omega, delta = m.placed(teams, sides, i)
		} else {
			omega, delta = m.paired(teams, sides, i)
		}
		omega *= m.margin(teams, i)
		for _, p := range before[i].Players {
			share := p.Deviation * p.Deviation / sides[i].variance
			p.Mean += share * omega
			p.Deviation *= math.Sqrt(max(1-share*delta, leastVariance))
			after[i] = append(after[i], p)
		}
	}
	return after
}

// uncertain returns ratings with the variance that a match adds.
func (s Settings) uncertain(players []Rating) []Rating {
	all := make([]Rating, len(players))
	for i, p := range players {
		all[i] = p
		all[i].Deviation = math.Sqrt(p.Deviation*p.Deviation + s.Tau*s.Tau)
	}
	return all
}

// placed returns by how much the mean of a team changes, and which part of its variance it loses, when the match is
// seen as a choice of the first team among all, of the next one among the others, and so on.
func (m wengLin) placed(teams []Team, sides []side, i int) (omega, delta float64) {
	c := 0.0
	for _, s := range sides {
		c += s.variance + m.Beta*m.Beta
	}
	c = math.Sqrt(c)
	for q := range teams {
		if teams[q].Rank > teams[i].Rank {
			continue
		}
		// The chance of team i among those that are not before team q. Differences of means keep Exp in its range.
		sum, equal := 0.0, 0.0
		for s := range teams {
			if teams[s].Rank >= teams[q].Rank {
				sum += math.Exp((sides[s].mean - sides[i].mean) / c)
			}
			if teams[s].Rank == teams[q].Rank {
				equal++
			}
		}
		p := 1 / sum
		if q == i {
			omega += (1 - p) / equal
		} else {
			omega -= p / equal
		}
		delta += p * (1 - p) / equal
	}
	gamma := math.Sqrt(sides[i].variance) / c
	return omega * sides[i].variance / c, delta * sides[i].variance / (c * c) * gamma
}

// paired is the same when the match is seen as one of each pair of teams.
func (m wengLin) paired(teams []Team, sides []side, i int) (omega, delta float64) {
	own := sides[i]
	for q, other := range sides {
		if q == i {
			continue
		}
		c := math.Sqrt(own.variance + other.variance + 2*m.Beta*m.Beta)
		gamma := math.Sqrt(own.variance) / c
		v, w := m.compared((own.mean-other.mean)/c, m.Draw/c, cmp.Compare(teams[q].Rank, teams[i].Rank))
		omega += own.variance / c * v
		delta += gamma * own.variance / (c * c) * w
	}
	return omega, delta
}

// compared returns the corrections for a pair. Ahead is positive when the first team won, and 0 when they drew.
func (m wengLin) compared(x, t float64, ahead int) (v, w float64) {
	if m.Model == BradleyTerry {
		p := 1 / (1 + math.Exp(-x))
		return outcome(ahead) - p, p * (1 - p)
	}
	switch {
	case ahead > 0:
		return won(x, t)
	case ahead == 0:
		return drew(x, t)
	}
	v, w = won(-x, t)
	return -v, w
}

// margin is the factor that scores give a change of means.
func (m wengLin) margin(teams []Team, i int) float64 {
	if m.Margin == nil {
		return 1
	}
	sum := 0.0
	for q := range teams {
		if q != i {
			sum += math.Log1p(max(0, math.Abs(teams[q].Score-teams[i].Score)-*m.Margin))
		}
	}
	return 1 + sum/float64(len(teams)-1)
}

// Odds implements Model.
func (m wengLin) Odds(teams []Team) []float64 {
	return odds(teams, func(a, b *Team) float64 { return m.beats(a, b, len(teams)) })
}

package rating

import (
	"cmp"
	"math"
)

// GlickoScale is what a unit of Glicko-2's inner scale is in its ratings.
const GlickoScale = 173.7178

// glicko is Glicko-2, with each match as a rating period of its own.
type glicko struct{ Settings }

// opponent is what a player is compared with, in the inner scale.
type opponent struct{ mean, deviation, outcome float64 }

// weight is how much a comparison with a player of a deviation tells.
func weight(deviation float64) float64 {
	return 1 / math.Sqrt(1+3*deviation*deviation/(math.Pi*math.Pi))
}

// Rate implements Model.
func (m glicko) Rate(teams []Team) [][]Rating {
	sides := make([]opponent, len(teams))
	for i := range teams {
		sides[i] = m.side(&teams[i])
	}
	after := make([][]Rating, len(teams))
	for i := range teams {
		others := make([]opponent, 0, len(teams)-1)
		for q, one := range sides {
			if q == i {
				continue
			}
			one.outcome = outcome(cmp.Compare(teams[q].Rank, teams[i].Rank))
			others = append(others, one)
		}
		for _, p := range teams[i].Players {
			after[i] = append(after[i], m.player(p, others))
		}
	}
	return after
}

// side is a team as one player: the mean of the skills, and the root of the mean of the variances.
func (m glicko) side(t *Team) opponent {
	mean, variance := t.sums()
	n := float64(len(t.Players))
	return opponent{mean: (mean/n - m.Mean) / GlickoScale, deviation: math.Sqrt(variance/n) / GlickoScale}
}

// player rates a player after comparisons with others. The steps have the numbers of Glickman's paper.
func (m glicko) player(p Rating, others []opponent) Rating {
	mean, deviation := (p.Mean-m.Mean)/GlickoScale, p.Deviation/GlickoScale
	information, gain := 0.0, 0.0
	for _, o := range others { // steps 3 and 4
		g := weight(o.deviation)
		e := 1 / (1 + math.Exp(-g*(mean-o.mean)))
		information += g * g * e * (1 - e)
		gain += g * (o.outcome - e)
	}
	p.Volatility = m.volatility(p.Volatility, deviation, 1/information, gain/information)    // step 5
	deviation = 1 / math.Sqrt(1/(deviation*deviation+p.Volatility*p.Volatility)+information) // steps 6 and 7
	p.Mean = (mean+deviation*deviation*gain)*GlickoScale + m.Mean
	p.Deviation = deviation * GlickoScale
	return p
}

// volatility is step 5: the root of f, by the Illinois method. Delta is the improvement that the outcomes suggest, and
// v its variance.
func (m glicko) volatility(before, deviation, v, delta float64) float64 {
	const precise, most = 1e-7, 100
	start := math.Log(before * before)
	f := func(x float64) float64 {
		e := math.Exp(x)
		d := deviation*deviation + v + e
		return e*(delta*delta-d)/(2*d*d) - (x-start)/(m.Tau*m.Tau)
	}
	a, b := start, start-m.Tau
	if d := delta*delta - deviation*deviation - v; d > 0 {
		b = math.Log(d)
	} else {
		for k := 2; f(b) < 0 && k < most; k++ {
			b = start - float64(k)*m.Tau
		}
	}
	fa, fb := f(a), f(b)
	for k := 0; math.Abs(b-a) > precise && k < most; k++ {
		c := a + (a-b)*fa/(fb-fa)
		fc := f(c)
		if fc*fb <= 0 {
			a, fa = b, fb
		} else {
			fa /= 2
		}
		b, fb = c, fc
	}
	return math.Exp(a / 2)
}

// Odds implements Model.
func (m glicko) Odds(teams []Team) []float64 {
	return odds(teams, func(a, b *Team) float64 {
		x, y := m.side(a), m.side(b)
		return 1 / (1 + math.Exp(-weight(math.Hypot(x.deviation, y.deviation))*(x.mean-y.mean)))
	})
}

// Rest implements Model.
func (m glicko) Rest(r Rating, periods float64) Rating {
	m.Growth = r.Volatility * GlickoScale
	return m.Settings.Rest(r, periods)
}

package rating

import "math"

// The standard normal distribution.

func density(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

func cumulative(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// won returns by how much a difference of skill x is corrected when the better side won by more than the margin t: the
// mean of the standard normal distribution above t-x less that, and what the variance loses. Both are in units of the
// deviation.
func won(x, t float64) (v, w float64) {
	x -= t
	p := cumulative(x)
	if p == 0 {
		return -x, 1
	}
	v = density(x) / p
	return v, min(max(v*(v+x), 0), 1)
}

// drew is the same for a difference that was within the margin.
func drew(x, t float64) (v, w float64) {
	d := math.Abs(x)
	a, b := t-d, -t-d
	p := cumulative(a) - cumulative(b)
	if p == 0 {
		return math.Copysign(1, x) * a, 1
	}
	v = (density(b) - density(a)) / p
	w = v*v + (a*density(a)-b*density(b))/p
	return math.Copysign(1, x) * v, min(max(w, 0), 1)
}

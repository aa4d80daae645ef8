// Package statistics has means with their intervals, and Student's t. Critical values are exact to ten digits, from a
// tenth to a billion degrees of freedom.
package statistics

import "math"

// Mean returns the mean of values, which is not a number without any.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Interval returns the mean of values and half of its 95 % interval, which is not a number for fewer than two.
func Interval(values []float64) (mean, half float64) {
	mean = Mean(values)
	n, apart := float64(len(values)), 0.0
	for _, v := range values {
		apart += (v - mean) * (v - mean)
	}
	return mean, StudentCritical(0.025, n-1) * math.Sqrt(apart/(n-1)/n)
}

// StudentCritical returns the value that Student's t exceeds with probability p, which is neither 0 nor 1. Newton's
// method finds it, from below: the tail is convex above 0.
func StudentCritical(p, freedom float64) float64 {
	if p > 0.5 {
		return -StudentCritical(1-p, freedom)
	}
	x, next := 0.0, 1e-6
	for next > x*(1+1e-15) {
		x = next
		tail, density := student(x, freedom)
		next = x + (tail-p)/density
	}
	return next
}

// student returns the probability that Student's t exceeds t, and its density there.
func student(t, freedom float64) (tail, density float64) {
	square := t / math.Sqrt(freedom) * t / math.Sqrt(freedom)
	a, x, y := freedom/2, 1/(1+square), 1/(1+1/square)
	return beta(a, 0.5, x, y) / 2, binomial(a, 0.5, x, y) * a / (2*a + 1) / t
}

// binomial returns Γ(a+b+1)/Γ(a+1)/Γ(b+1) xᵃ yᵇ, where x + y = 1, without differences of great logarithms: C.
// Loader, Fast and Accurate Computation of Binomial Probabilities, 2000.
func binomial(a, b, x, y float64) float64 {
	n := a + b
	log := -deviance(a, n*x) - deviance(b, n*y)
	if a == 0 || b == 0 {
		return math.Exp(log)
	}
	return math.Sqrt(n/(2*math.Pi*a*b)) * math.Exp(log+stirling(n)-stirling(a)-stirling(b))
}

// deviance returns a log(a/m) + m - a.
func deviance(a, m float64) float64 {
	if a == 0 {
		return m
	}
	return a*math.Log1p((a-m)/m) + (m - a)
}

// stirling returns by how much log Γ(x+1) is more than Stirling's formula says.
func stirling(x float64) float64 {
	if x < 12 {
		gamma, _ := math.Lgamma(x + 1)
		return gamma - (x+0.5)*math.Log(x) + x - math.Log(2*math.Pi)/2
	}
	return (1./12 - (1./360-(1./1260-(1./1680-1./1188/x/x)/x/x)/x/x)/x/x) / x
}

// beta returns the regularized incomplete beta function of x, where x + y = 1: DiDonato and Morris 1992, equation 9.
func beta(a, b, x, y float64) float64 {
	above := a*y - b*x
	switch {
	case b <= 0 || x <= 0 && a > 0:
		return 0
	case a <= 0:
		return 1
	case above < 0:
		return 1 - beta(b, a, y, x)
	}
	fraction := a * (above + 1) / (a + 1)
	c, d, step := fraction, 0.0, 0.0
	for m := 1.0; math.Abs(step-1) > 1e-15; m++ {
		part := m * (b - m) * x / (a + 2*m - 1)
		whole := m + part + (a+m)*(above+1+m*(1+y))/(a+2*m+1)
		part *= (a + m - 1) * (a + b + m - 1) * x / (a + 2*m - 1)
		c, d = whole+part/c, 1/(whole+part*d)
		step, fraction = c*d, fraction*c*d
	}
	return binomial(a, b, x, y) * a * b / (a + b) / fraction
}

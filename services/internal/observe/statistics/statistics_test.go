package statistics_test

import (
	"math"
	"testing"

	"matchmaker.dev/services/internal/observe/statistics"
)

const exact = 1e-10

// near fails the test unless a number differs from the wanted one by no more than a part of it.
func near(t *testing.T, what string, got, want, part float64, args ...float64) {
	t.Helper()
	if !(math.Abs(got-want) <= part*math.Abs(want)) {
		t.Errorf("%s %v is %v, not %v", what, args, got, want)
	}
}

// integral returns a function's integral from x to infinity: the trapezoidal rule after a double exponential
// substitution.
func integral(of func(x float64) float64, x float64) (sum float64) {
	const step = 1. / 128
	for u := -5.0; u < 6.7; u += step {
		more := math.Exp(math.Pi / 2 * math.Sinh(u))
		sum += step * of(x+more) * more * math.Pi / 2 * math.Cosh(u)
	}
	return sum
}

func TestCriticalValuesAreIntegralsOfTheDensity(t *testing.T) {
	for _, freedom := range []float64{0.1, 0.5, 1, 2, 3, 7.3, 30, 1000, 12345, 1e6, 1e9} {
		density := func(x float64) float64 { return math.Exp(-(freedom + 1) / 2 * math.Log1p(x*x/freedom)) }
		all := 2 * integral(density, 0)
		for _, x := range []float64{0.1, 1, 1.7, 2, 5, 9, 30} {
			p := integral(density, x) / all
			near(t, "critical value", statistics.StudentCritical(p, freedom), x, exact, p, freedom)
			if x < 3 {
				near(t, "critical value", statistics.StudentCritical(1-p, freedom), -x, exact, 1-p, freedom)
			}
		}
	}
	if middle := statistics.StudentCritical(0.5, 7); math.Abs(middle) > 1e-15 {
		t.Errorf("the middle is %v", middle)
	}
}

// A table of Student's t by W. S. Gosset's successors.
func TestTable(t *testing.T) {
	for _, c := range [][3]float64{
		{0.025, 1, 12.706}, {0.05, 2, 2.920}, {0.005, 5, 4.032}, {0.025, 10, 2.228}, {0.0005, 30, 3.646}, {0.01, 120, 2.358},
	} {
		near(t, "critical value of t", statistics.StudentCritical(c[0], c[1]), c[2], 3e-4, c[:2]...)
	}
}

func TestMeansAndIntervals(t *testing.T) {
	mean, half := statistics.Interval([]float64{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4})
	near(t, "mean", mean, 1e9+2.5, 1e-15)
	near(t, "half of the interval", half, 3.182*math.Sqrt(5./3)/2, 3e-4) // from a table of Student's t
	if mean, half := statistics.Interval([]float64{5}); mean != 5 || !math.IsNaN(half) {
		t.Errorf("of one value %v ± %v", mean, half)
	}
	if mean := statistics.Mean(nil); !math.IsNaN(mean) {
		t.Errorf("the mean of none is %v", mean)
	}
}

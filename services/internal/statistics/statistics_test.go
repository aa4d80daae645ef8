package statistics_test

import (
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"

	"matchmaker.dev/services/internal/statistics"
)

const exact = 1e-10

// near fails the test unless a number differs from the wanted one by no more than a part of it.
func near(t *testing.T, what string, got, want, part float64, args ...float64) {
	t.Helper()
	if !(math.Abs(got-want) <= part*math.Abs(want)) {
		t.Errorf("%s %v is %v, not %v", what, args, got, want)
	}
}

// integral returns that of a function from x to infinity: the trapezoidal rule after a double exponential substitution.
func integral(of func(x float64) float64, x float64) (sum float64) {
	const step = 1. / 128
	for u := -5.0; u < 6.7; u += step {
		more := math.Exp(math.Pi / 2 * math.Sinh(u))
		sum += step * of(x+more) * more * math.Pi / 2 * math.Cosh(u)
	}
	return sum
}

func TestTailsAreIntegralsOfTheDensity(t *testing.T) {
	for _, freedom := range []float64{0.1, 0.5, 1, 2, 3, 7.3, 30, 1000, 12345, 1e6, 1e9} {
		density := func(x float64) float64 { return math.Exp(-(freedom + 1) / 2 * math.Log1p(x*x/freedom)) }
		all := 2 * integral(density, 0)
		for _, x := range []float64{1e-5, 0.1, 1, 1.7, 2, 5, 9, 30} {
			p := integral(density, x) / all
			near(t, "tail", statistics.StudentTail(x, freedom), p, exact, x, freedom)
			near(t, "tail", statistics.StudentTail(-x, freedom), 1-p, exact, -x, freedom)
			if x > 0.01 {
				near(t, "critical value", statistics.StudentCritical(p, freedom), x, exact, p, freedom)
			}
		}
	}
	density := func(x float64) float64 { return math.Exp(-x * x / 2) }
	for _, x := range []float64{0.1, 1, 2.5, 8, 37} {
		p := integral(density, x) / math.Sqrt(2*math.Pi)
		near(t, "critical value", statistics.NormalCritical(p), x, exact, p)
		if x < 3 {
			near(t, "critical value", statistics.NormalCritical(1-p), -x, exact, 1-p)
		}
	}
}

func TestEnds(t *testing.T) {
	for _, one := range []struct{ got, want float64 }{
		{statistics.StudentTail(0, 3), 0.5},
		{statistics.StudentTail(math.Inf(1), 3), 0}, {statistics.StudentTail(math.Inf(-1), 3), 1},
		{statistics.BinomialCDF(-2, 5, 0.5), 0}, {statistics.BinomialCDF(6, 5, 0.5), 1},
		{statistics.BinomialCDF(-1, 5, 0), 0}, {statistics.BinomialCDF(5, 5, 1), 1},
		{statistics.BinomialCDF(4, 5, 1), 0}, {statistics.BinomialCDF(0, 5, 0), 1}, {statistics.BinomialCDF(0, 0, 0.5), 1},
		{statistics.BinomialMass(-1, 5, 0.5), 0}, {statistics.BinomialMass(6, 5, 0.5), 0},
		{statistics.BinomialMass(0, 0, 0.5), 1}, {statistics.BinomialMass(0, 5, 0), 1},
		{statistics.BinomialMass(5, 5, 1), 1}, {statistics.BinomialMass(3, 5, 1), 0}, {statistics.BinomialMass(3, 5, 0), 0},
	} {
		if one.got != one.want {
			t.Errorf("%v, not %v", one.got, one.want)
		}
	}
	for _, middle := range []float64{statistics.NormalCritical(0.5), statistics.StudentCritical(0.5, 7)} {
		if math.Abs(middle) > 1e-15 {
			t.Errorf("the middle is %v", middle)
		}
	}
}

// The terms are added with 200 bits: each is a multiple of the one before.
func TestBinomialIsTheSumOfItsTerms(t *testing.T) {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	for _, c := range []struct {
		n, last int64
		p       float64
	}{
		{1, 1, 0.3}, {7, 7, 0.999}, {40, 40, 1e-9}, {60, 60, 0.5}, {1000, 400, 0.31}, {1000, 1000, 0.99},
		{1_000_000, 80, 3e-5}, {1_000_000, 5, 1e-12}, {20_000, 10_300, 0.5},
	} {
		p, n := number(c.p), c.n
		q := new(big.Float).Sub(number(1), p)
		odds := new(big.Float).Quo(p, q)
		term, power := number(1), new(big.Float).Copy(q)
		for exponent := n; exponent > 0; exponent /= 2 { // qⁿ
			if exponent%2 == 1 {
				term.Mul(term, power)
			}
			power.Mul(power, power)
		}
		sum := number(0)
		for k := range c.last + 1 {
			sum.Add(sum, term)
			mass, _ := term.Float64()
			cdf, _ := sum.Float64()
			if mass > 1e-290 {
				near(t, "mass", statistics.BinomialMass(k, n, c.p), mass, exact, float64(k), float64(n), c.p)
				near(t, "cdf", statistics.BinomialCDF(k, n, c.p), cdf, exact, float64(k), float64(n), c.p)
			}
			term.Mul(term, odds).Mul(term, number(float64(n-k))).Quo(term, number(float64(k+1)))
		}
	}
}

// Tables of Student's t by W. S. Gosset's successors, of the normal distribution, and of the binomial one.
func TestTables(t *testing.T) {
	for _, c := range [][3]float64{
		{0.025, 1, 12.706}, {0.05, 2, 2.920}, {0.005, 5, 4.032}, {0.025, 10, 2.228}, {0.0005, 30, 3.646}, {0.01, 120, 2.358},
	} {
		near(t, "critical value of t", statistics.StudentCritical(c[0], c[1]), c[2], 3e-4, c[:2]...)
	}
	for p, x := range map[float64]float64{0.1: 1.281552, 0.05: 1.644854, 0.025: 1.959964, 0.001: 3.090232} {
		near(t, "critical value", statistics.NormalCritical(p), x, 1e-6, p)
	}
	near(t, "cdf", statistics.BinomialCDF(3, 10, 0.25), 0.7759, 1e-4)
	near(t, "cdf", statistics.BinomialCDF(5, 20, 0.4), 0.1256, 1e-3)
}

// The file has what gonum.org/v1/gonum 0.17.0 returned.
func TestGonumReturnsTheSame(t *testing.T) {
	file, err := os.Open("testdata/gonum.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) < 400 {
		t.Fatal(len(lines), err)
	}
	for _, line := range lines[1:] {
		var n [4]float64
		for i := range n {
			n[i], _ = strconv.ParseFloat(line[i+1], 64)
		}
		got := map[string]func() float64{
			"student tail":     func() float64 { return statistics.StudentTail(n[0], n[1]) },
			"student critical": func() float64 { return statistics.StudentCritical(n[0], n[1]) },
			"normal critical":  func() float64 { return statistics.NormalCritical(n[0]) },
			"binomial cdf":     func() float64 { return statistics.BinomialCDF(int64(n[0]), int64(n[1]), n[2]) },
			"binomial mass":    func() float64 { return statistics.BinomialMass(int64(n[0]), int64(n[1]), n[2]) },
		}[line[0]]()
		near(t, line[0], got, n[3], 1e-8, n[:3]...)
	}
}

func TestMeansAndIntervals(t *testing.T) {
	mean, variance := statistics.MeanVariance([]float64{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 6})
	near(t, "mean", mean, 1e9+3, 1e-15)
	near(t, "variance", variance, 14./3, exact)
	mean, half := statistics.Interval([]float64{1, 2, 3, 4})
	near(t, "mean", mean, 2.5, exact)
	near(t, "half of the interval", half, 3.182*math.Sqrt(5./3)/2, 3e-4) // from a table of Student's t
	if mean, half := statistics.Interval([]float64{5}); mean != 5 || !math.IsNaN(half) {
		t.Errorf("of one value %v ± %v", mean, half)
	}
	if mean := statistics.Mean(nil); !math.IsNaN(mean) {
		t.Errorf("the mean of none is %v", mean)
	}
}

package population_test

import (
	"math"
	"testing"

	"matchmaker.dev/services/lab/population"
)

func draw(t *testing.T, distribution string, n int) []float64 {
	t.Helper()
	d, err := population.ParseDistribution(distribution)
	if err != nil {
		t.Fatal(err)
	}
	next := d.Sampler(7, "x")
	values := make([]float64, n)
	for i := range values {
		values[i] = next()
	}
	return values
}

func TestDistributionsHaveTheirMeanAndDeviation(t *testing.T) {
	const n = 20_000
	for text, want := range map[string]struct{ mean, deviation, low, high float64 }{
		"normal:1500:300": {1500, 300, 0, 3000},
		"normal:5:0":      {5, 0, 5, 5},
		"uniform:0:60":    {30, 60 / math.Sqrt(12), 0, 60},
		"uniform:-2:-1":   {-1.5, 1 / math.Sqrt(12), -2, -1},
		"choice:1,2,3":    {2, math.Sqrt(2.0 / 3), 1, 3},
		"choice:1,1,1,9":  {3, math.Sqrt(12), 1, 9},
		"7.5":             {7.5, 0, 7.5, 7.5},
		"exponential:90":  {90, 90, 0, math.Inf(1)},
		"lognormal:2:0.5": {2 * math.Exp(0.125), 2 * math.Exp(0.125) * math.Sqrt(math.Exp(0.25)-1), 0, math.Inf(1)},
		"weibull:10:2":    {10 * math.Gamma(1.5), 10 * math.Sqrt(1-math.Pow(math.Gamma(1.5), 2)), 0, math.Inf(1)},
	} {
		sum, squares, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
		for _, v := range draw(t, text, n) {
			sum, squares, low, high = sum+v, squares+v*v, min(low, v), max(high, v)
		}
		mean := sum / n
		deviation := math.Sqrt(max(0, squares/n-mean*mean))
		slack := 0.03*want.deviation + 1e-4 // four times the standard error of the mean
		if math.Abs(mean-want.mean) > slack || math.Abs(deviation-want.deviation) > slack || low < want.low ||
			high > want.high {
			t.Errorf("%s: mean %v, deviation %v, from %v to %v", text, mean, deviation, low, high)
		}
	}
}

func TestParseDistributionRefusesBadParameters(t *testing.T) {
	for _, text := range []string{
		"", "x", "1e999", "NaN", "normal", "normal:1", "normal:1:-1", "normal:1:2:3", "normal:a:b",
		"uniform:1", "uniform:2:1", "uniform:0:Inf", "choice:", "choice:1,,2", "poisson:3",
		"uniform:-1e308:1e308", "normal:0:1e308",
		"exponential:-1", "lognormal:-1:1", "lognormal:1:11", "weibull:1:0", "weibull:1",
	} {
		if _, err := population.ParseDistribution(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

package canary

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// welch is the probability that the mean of the canary's blocks exceeds that of the others so much by chance: Welch's
// test. seen is which difference would be found with a probability of Power.
func welch(of, others []float64, alpha float64) (p, seen float64) {
	mean, variance := stat.MeanVariance(of, nil)
	otherMean, otherVariance := stat.MeanVariance(others, nil)
	n, m := float64(len(of)), float64(len(others))
	a, b := variance/n, otherVariance/m
	if a+b == 0 {
		if mean > otherMean {
			return 0, 0
		}
		return 1, 0
	}
	part := a / (a + b)
	t := distuv.StudentsT{Sigma: 1, Nu: 1 / (part*part/(n-1) + (1-part)*(1-part)/(m-1))}
	size := math.Sqrt(a + b)
	return 1 - t.CDF((mean-otherMean)/size), (t.Quantile(1-alpha) + t.Quantile(Power)) * size
}

package canary

import "matchmaker.dev/services/internal/statistics"

// welch is the probability that the mean of the canary's blocks exceeds that of the others so much by chance: Welch's
// test. seen is which difference would be found with a probability of Power.
func welch(of, others []float64, alpha float64) (p, seen float64) {
	mean, variance := statistics.MeanVariance(of)
	otherMean, otherVariance := statistics.MeanVariance(others)
	n, m := float64(len(of)), float64(len(others))
	a, b := variance/n, otherVariance/m
	if a+b == 0 {
		if mean > otherMean {
			return 0, 0
		}
		return 1, 0
	}
	part := a / (a + b)
	difference := chance{a + b, 1 / (part*part/(n-1) + (1-part)*(1-part)/(m-1))}
	return difference.exceeds(mean - otherMean), difference.found(alpha)
}

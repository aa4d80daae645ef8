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

// MeanVariance returns the mean and the unbiased variance of values, which is not a number for fewer than two.
func MeanVariance(values []float64) (mean, variance float64) {
	mean = Mean(values)
	for _, v := range values {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(values)-1)
}

// Interval returns the mean of values and half of its 95 % interval, which is not a number for fewer than two.
func Interval(values []float64) (mean, half float64) {
	mean, variance := MeanVariance(values)
	n := float64(len(values))
	return mean, StudentCritical(0.025, n-1) * math.Sqrt(variance/n)
}

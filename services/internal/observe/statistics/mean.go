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

package main

import "math"

// trendBlocks is how many blocks samples are divided into. Means of blocks depend on each other much less than samples
// do: what is held goes up and down with collections of garbage and rewrites of files.
const trendBlocks = 9

// student is the 97.5 % quantile of Student's distribution with trendBlocks - 2 degrees of freedom.
const student = 2.365

// trend is how much a line grows from one sample to the next, and the half width of the 95 % confidence interval of
// that: a straight line through the means of blocks, by least squares.
func trend(samples []float64) (slope, error95 float64) {
	size := len(samples) / trendBlocks
	if size == 0 {
		return 0, math.Inf(1)
	}
	samples = samples[len(samples)-size*trendBlocks:]
	var blocks [trendBlocks]float64
	for i := range blocks {
		blocks[i] = average(samples[i*size : (i+1)*size])
	}
	middle, level := float64(trendBlocks-1)/2, average(blocks[:])
	var xx, xy float64
	for i, y := range blocks {
		x := float64(i) - middle
		xx, xy = xx+x*x, xy+x*(y-level)
	}
	slope = xy / xx
	var rest float64
	for i, y := range blocks {
		rest += math.Pow(y-level-slope*(float64(i)-middle), 2)
	}
	error95 = student * math.Sqrt(rest/(trendBlocks-2)/xx)
	return slope / float64(size), error95 / float64(size)
}

// A line may grow by this share of its mean, or by so many MiB, while it is judged: less is not told from noise.
const (
	growthShare = 0.03
	growthLeast = 1.0
)

// isGrowing reports whether a line grows for sure, and by more than little.
func isGrowing(samples []float64, slope, error95 float64) bool {
	grown := slope * float64(len(samples))
	return slope-error95 > 0 && grown > max(growthShare*average(samples), growthLeast)
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

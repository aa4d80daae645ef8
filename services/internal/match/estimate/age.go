package estimate

import (
	"math"
	"time"
)

// Ages are divided into bins. The first ends at firstBin, and each other growth times as late as the one before it: 70
// of them reach four hours.
const (
	bins     = 70
	firstBin = 0.05 // seconds
	growth   = 1.2
)

// bounds are where bins begin, in seconds, and where the last one ends.
var bounds = func() (b [bins + 1]float64) {
	for i := range bins {
		b[i+1] = firstBin * math.Pow(growth, float64(i))
	}
	return b
}()

// binOf is the bin of an age in seconds; the last one has all older ones.
func binOf(age float64) int {
	if age < firstBin {
		return 0
	}
	i := min(bins-1, 1+int(math.Log(age/firstBin)/math.Log(growth)))
	// The logarithm may be off by the last bit at a bound.
	if age < bounds[i] {
		return i - 1
	}
	if i+1 < bins && age >= bounds[i+1] {
		return i + 1
	}
	return i
}

func seconds(ms int64) float64 { return float64(ms) / 1000 }

func duration(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
}

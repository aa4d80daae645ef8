package rules

import "math"

// rounding is what computing with binary fractions may add to a number, as a part of it: some units in the last place.
// 0.4 and 0.3 are at most 0.1 apart, although the difference of the fractions that stand for them is more.
const rounding = 16 * 0x1p-52

// Rounding returns how far a number may be beyond a limit that was computed from numbers of a magnitude.
func Rounding(magnitude float64) float64 {
	if r := rounding * math.Abs(magnitude); r < math.MaxFloat64 {
		return r
	}
	return 0
}

// Apart returns how far high is above low, less what rounding may have added: for equal numbers it is less than 0.
func Apart(low, high float64) float64 {
	return high - low - Rounding(max(math.Abs(low), math.Abs(high)))
}

// AtMost returns whether a number is at most a limit, but for rounding.
func AtMost(n, limit float64) bool { return n <= limit+Rounding(limit) }

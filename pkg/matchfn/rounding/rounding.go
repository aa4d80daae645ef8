// Package rounding is how far numbers may be beyond a limit, since decimals are computed as binary fractions.
package rounding

import "math"

// part is what computing with binary fractions may add to a number, as a part of it: some units in the last place.
// 0.4 and 0.3 are at most 0.1 apart, although the difference of the fractions that stand for them is more.
const part = 16 * 0x1p-52

// Of returns how far a number may be beyond a limit that was computed from numbers of a magnitude.
func Of(magnitude float64) float64 {
	if r := part * math.Abs(magnitude); r < math.MaxFloat64 {
		return r
	}
	return 0
}

// Apart returns how far high is above low, less what rounding may have added: for equal numbers it is less than 0.
func Apart(low, high float64) float64 {
	return high - low - Of(max(math.Abs(low), math.Abs(high)))
}

// AtMost reports whether a number is at most a limit, but for rounding.
func AtMost(n, limit float64) bool { return n <= limit+Of(limit) }

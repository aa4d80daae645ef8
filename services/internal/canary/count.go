package canary

import (
	"math"

	"matchmaker.dev/services/internal/statistics"
)

// Fisher is the probability that so many of the canary's runs fail, or more, when those of both uploads that failed
// are spread by chance: Fisher's exact test.
func Fisher(failed, runs, otherFailed, otherRuns int64) float64 {
	all, bad := runs+otherRuns, failed+otherFailed
	p, share := 0.0, float64(bad)/float64(all)
	for k := failed; k <= min(bad, runs); k++ {
		p += statistics.BinomialMass(k, runs, share) * statistics.BinomialMass(bad-k, otherRuns, share)
	}
	return min(p/statistics.BinomialMass(bad, all, share), 1)
}

// seenShare is which share of the canary's runs must fail so that it is found with a probability of Power, by the
// difference of the arcsines of the roots of both shares; more than 1 if even all are not found.
func seenShare(runs, otherFailed, otherRuns int64, alpha float64) float64 {
	if runs == 0 || otherRuns == 0 {
		return math.Inf(1)
	}
	share := float64(otherFailed) / float64(otherRuns)
	n := float64(runs) * float64(otherRuns) / float64(runs+otherRuns)
	want := (statistics.NormalCritical(alpha) + statistics.NormalCritical(1-Power)) / math.Sqrt(n)
	angle := 2*math.Asin(math.Sqrt(share)) + want
	if angle > math.Pi {
		return math.Inf(1)
	}
	root := math.Sin(angle / 2)
	return root * root
}

// fewer is the probability of so few matches of the canary in a time, or fewer, when it makes fewest times as many a
// second as the other upload does: the exact test of two rates, which is binomial.
func fewer(matches int64, seconds float64, otherMatches int64, otherSeconds float64) float64 {
	if seconds <= 0 || otherSeconds <= 0 || otherMatches == 0 {
		return 1
	}
	share := fewest * seconds / (fewest*seconds + otherSeconds)
	return statistics.BinomialCDF(matches, matches+otherMatches, share)
}

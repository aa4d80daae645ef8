package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/pkg/matchfn/rules"
)

// Teams may be as many standard deviations apart as their odds are within the bound, and not more.
func TestEvennessIsThatOfTheOdds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 8))
	within := 0
	for range 10_000 {
		part, squared := random.Float64(), 9*random.Float64()*random.Float64()
		bound := random.Float64()
		of := evenness{odds: &rules.OddsOf{Odds: rules.Favorite}, strict: random.IntN(2) == 0}
		favorite, quality := math.Erfc(-math.Sqrt(squared/2))/2, math.Sqrt(part)*math.Exp(-squared/2)
		want, got := favorite <= bound, squared <= of.allows(bound)(part)
		if random.IntN(2) == 0 {
			of.odds.Odds = rules.Quality
			want, got = quality >= bound, squared <= of.allows(bound)(part)
		}
		if got != want {
			t.Fatalf("%+v: with %v of the variance and %v², a favourite of %v and a quality of %v are within %v: %v",
				of, part, squared, favorite, quality, bound, got)
		}
		if got {
			within++
		}
	}
	if within < 1000 || within > 9000 {
		t.Errorf("the cases say little: %d are within", within)
	}
}

// Where the odds may not be as the bound is, there are teams that are so far apart that they are, though the odds end
// there.
func TestStrictBoundsOfOddsEnd(t *testing.T) {
	for odds, bound := range map[rules.Odds]float64{rules.Favorite: 1, rules.Quality: 0} {
		of := evenness{odds: &rules.OddsOf{Odds: odds}}
		if n := of.allows(bound)(1); !math.IsInf(n, 1) {
			t.Errorf("%s: %v is allowed", odds, n)
		}
		of.strict = true
		if n := of.allows(bound)(1); !(n > 50 && n < 2000) {
			t.Errorf("%s: %v is allowed by a strict bound", odds, n)
		}
	}
}

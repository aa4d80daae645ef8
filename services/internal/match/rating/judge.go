package rating

import (
	"cmp"
	"math"
)

// Buckets is into how many buckets Judged divides the odds of favorites, from even odds up to certainty.
const Buckets = 10

// Judged compares the odds of pairs of teams with what came. Each pair counts for its favorite, so that the order of
// teams does not matter; a draw is half of a win, and so is anything between equal teams.
type Judged struct {
	// Loss is the sum of the negative logarithms of the odds of what came, and Squares of the squares of how far the odds
	// were from it.
	Loss, Squares float64
	Buckets       [Buckets]Bucket
}

// Bucket has the pairs whose odds are in it: the sums, or the means, of the odds and of the wins of the favorites.
type Bucket struct {
	Pairs float64 `json:"pairs"`
	Odds  float64 `json:"odds"`
	Won   float64 `json:"won"`
}

// Means is a bucket that has pairs, with means instead of sums.
func (b Bucket) Means() Bucket { return Bucket{b.Pairs, b.Odds / b.Pairs, b.Won / b.Pairs} }

// Judge compares the odds that a model gives with what came.
func Judge(m Model, teams []Team) (j Judged) {
	for i := range teams {
		for k := range i {
			a, b := teams[k], teams[i]
			odds, won := m.Odds([]Team{a, b})[0], outcome(cmp.Compare(b.Rank, a.Rank))
			if odds < 0.5 {
				odds, won = 1-odds, 1-won
			}
			sure := min(odds, 1-1e-9)
			j.Loss -= won*math.Log(sure) + (1-won)*math.Log1p(-sure)
			j.Squares += (odds - won) * (odds - won)
			if odds == 0.5 { // neither is the favorite
				won = 0.5
			}
			d := &j.Buckets[min(int((odds-0.5)*2*Buckets), Buckets-1)]
			d.Pairs++
			d.Odds += odds
			d.Won += won
		}
	}
	return j
}

// Add adds what was judged elsewhere.
func (j *Judged) Add(other *Judged) {
	j.Loss += other.Loss
	j.Squares += other.Squares
	for i, b := range other.Buckets {
		j.Buckets[i].Pairs += b.Pairs
		j.Buckets[i].Odds += b.Odds
		j.Buckets[i].Won += b.Won
	}
}

// Sum is of all buckets.
func (j *Judged) Sum() (all Bucket) {
	for _, b := range j.Buckets {
		all.Pairs += b.Pairs
		all.Odds += b.Odds
		all.Won += b.Won
	}
	return all
}

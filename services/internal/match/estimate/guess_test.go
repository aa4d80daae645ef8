package estimate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/services/internal/match/estimate"
)

// firstRange is the first range that a book gives for new tickets when one comes each second and waits for a time that
// is known: exponential with a mean in seconds. inside is the probability with which a wait is in that range, and
// matched how many were matched before it was given.
func firstRange(seed uint64, mean float64) (inside float64, matched int) {
	r, book := rand.New(rand.NewPCG(seed, 2)), estimate.NewBook(0, seed)
	until := map[string]int64{}
	for now := int64(1000); now < 7200_000; now += 1000 {
		id := fmt.Sprint(now)
		book.Enter(id, 1, now, now)
		until[id] = now + int64(1000*mean*r.ExpFloat64())
		for id, end := range until {
			if end < now+1000 {
				book.Match([]string{id}, end)
				book.Leave([]string{id}, end)
				delete(until, id)
				matched++
			}
		}
		book.Advance(now + 1000)
		if given, ok := book.Wait(1).Forecast().Range(0); ok {
			return math.Exp(-given.Low.Seconds()/mean) - math.Exp(-given.High.Seconds()/mean), matched
		}
	}
	return math.NaN(), matched
}

// The first range that is given after little was seen is the most doubtful one. No answer is better than a wrong one,
// so it is given only when enough was seen.
func TestFirstRangeIsNoGuess(t *testing.T) {
	const worlds = 200
	for _, mean := range []float64{10, 40} {
		wrong, sum, least := 0, 0.0, math.MaxInt
		for seed := range uint64(worlds) {
			inside, matched := firstRange(seed, mean)
			if !(inside >= 0.65 && inside <= 0.95) {
				wrong++
			}
			sum, least = sum+inside, min(least, matched)
		}
		t.Logf("mean %v s: %d of %d first ranges are wrong, %.3f inside on average, after %d matches at least", mean, wrong,
			worlds, sum/worlds, least)
		if wrong > worlds*6/100 {
			t.Errorf("waits of %v s on average: %d of %d first ranges have less than 65 or more than 95 %% of waits", mean,
				wrong, worlds)
		}
	}
}

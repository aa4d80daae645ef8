package search_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"matchmaker.dev/functions/internal/search"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// Matches that are built again have no fewer players, though they cost less.
func TestCheaperMatchesHaveNoFewerPlayers(t *testing.T) {
	r := parsed(t, `{"values": {"skill": "number"},
		"teams": [{"name": "team", "copies": 2, "size": {"min": 1, "max": 5}}], "rules": [{"spread": "skill", "max": 900}],
		"prefer": [{"low": {"minus": [{"max": "skill"}, {"min": "skill"}]}, "scale": 100}]}`)
	var pool []judge.Ticket
	for i := range 60 {
		pool = append(pool, party(float64(100-i), float64(i*37%800), 1))
	}
	if found := search.Search(r, tickets(pool), nil, plenty); len(found) != 6 {
		t.Errorf("60 players are in %d matches, want 6", len(found))
	}
}

// The match of the oldest ticket is as near as one can be in most pools, whichever region that is in: the nearest of
// all may be together in none.
func TestMatchesOfOtherRegionsAreLookedAt(t *testing.T) {
	r := parsed(t, `{"values": {"skill": "number", "latency": "map"}, "regions": {"max": 100},
		"teams": [{"name": "team", "copies": 2, "size": 2}], "rules": [{"spread": "skill", "max": 900}],
		"prefer": [{"low": {"minus": [{"max": "skill"}, {"min": "skill"}]}, "scale": 100}]}`)
	regions := []string{"a", "b", "c"}
	random := rand.New(rand.NewPCG(4, 7))
	nearest, all := 0, 0
	for range 400 {
		skills, reached := make([]float64, 12), make([]int, 12)
		var pool []judge.Ticket
		for i := range skills {
			skills[i], reached[i] = float64(random.IntN(1000)), 1+random.IntN(7)
			latency := map[string]float64{}
			for j, region := range regions {
				latency[region] = 200 - 150*float64(reached[i]>>j&1) + float64(random.IntN(20))
			}
			pool = append(pool, judge.Ticket{Age: float64(50 - i), Players: []judge.Player{
				{"skill": skills[i], "latency": latency},
			}})
		}
		best := math.Inf(1)
		for set := range 1 << len(pool) {
			mask, n, least, greatest := 7, 0, math.Inf(1), math.Inf(-1)
			for i := range pool {
				if set>>i&1 == 1 {
					mask, n = mask&reached[i], n+1
					least, greatest = math.Min(least, skills[i]), math.Max(greatest, skills[i])
				}
			}
			if set&1 == 1 && n == 4 && mask != 0 {
				best = math.Min(best, greatest-least)
			}
		}
		found := search.Search(r, tickets(pool), nil, plenty)
		for _, m := range found {
			least, greatest, first := math.Inf(1), math.Inf(-1), false
			var worst [3]float64 // latency, by region
			for _, team := range m.Teams {
				for _, ticket := range team.Tickets {
					first = first || ticket == 0
					least, greatest = math.Min(least, skills[ticket]), math.Max(greatest, skills[ticket])
					for j, region := range regions {
						latency := pool[ticket].Players[0]["latency"].(map[string]float64)
						worst[j] = max(worst[j], latency[region])
					}
				}
			}
			if best := regions[slices.Index(worst[:], slices.Min(worst[:]))]; m.Region != best {
				t.Fatalf("a match with the latencies %v is in the region %s, not %s", worst, m.Region, best)
			}
			if first {
				if all++; greatest-least <= best {
					nearest++
				}
			}
		}
	}
	t.Logf("%d of %d matches are as near as they can be", nearest, all)
	if all < 300 || nearest < all*9/10 {
		t.Errorf("%d of %d matches are as near as they can be", nearest, all)
	}
}

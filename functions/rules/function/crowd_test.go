package function

import (
	"encoding/json"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/fake"
)

// mostMatches is how many matches there can be in a crowd, by the players of each role whose best region is the same. A
// party of two tanks, two healers or four others is in none.
func mostMatches(t *testing.T, tickets []fake.Ticket) (most int) {
	t.Helper()
	left := map[string]map[string]int{}
	for _, one := range tickets {
		var all []struct {
			Roles   []string
			Latency map[string]float64
		}
		if err := json.Unmarshal(one.Properties[players], &all); err != nil {
			t.Fatal(err)
		}
		roles, best := map[string]int{}, ""
		for _, player := range all {
			roles[player.Roles[0]]++
			for region, ping := range player.Latency {
				if best == "" || ping < player.Latency[best] {
					best = region
				}
			}
		}
		if roles["tank"] > 1 || roles["healer"] > 1 || roles["damage"] > 3 {
			continue
		}
		if left[best] == nil {
			left[best] = map[string]int{}
		}
		for role, n := range roles {
			left[best][role] += n
		}
	}
	for _, roles := range left {
		most += min(roles["tank"]/2, roles["healer"]/2, roles["damage"]/6)
	}
	return most
}

// Where very many wait, nearly all matches are found that their roles allow: players that take a rare one are sought
// farther away, and parties are placed before the tickets that fit in beside them.
func TestCrowdsLoseFewMatches(t *testing.T) {
	tickets := crowd(20_000)
	proposals, err := fake.Run(function, fake.Request{Settings: five(t), Tickets: tickets, Budget: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	most := mostMatches(t, tickets)
	t.Logf("%d matches, of %d at most", len(proposals), most)
	if most < 2400 || len(proposals) < most*96/100 {
		t.Errorf("%d matches, of %d at most", len(proposals), most)
	}
}

package function

import (
	"encoding/json"
	"testing"

	"matchmaker.dev/pkg/matchfn/fake"
)

// asSums are rules and tickets in which roles are numbers whose sums must be met.
func asSums(t testing.TB, tickets []fake.Ticket) (settings string, all []fake.Ticket) {
	settings = `{
		"numbers": ["skill"],
		"values": {"tank": "number", "healer": "number"},
		"teams": [{"name": "team", "copies": 2, "size": 5}],
		"regions": {"max": {"start": 60, "steps": [[15, 90], [30, 150]]}},
		"rules": [
			{"name": "tanks", "total": "tank", "sum": 1, "in": "team"},
			{"name": "healers", "total": "healer", "sum": 1, "in": "team"},
			{"name": "similar", "spread": "skill", "max": {"start": 200, "grow": 10, "until": 800}},
			{"name": "fair", "gap": "skill", "max": 60}
		]
	}`
	for _, one := range tickets {
		var list []map[string]any
		if err := json.Unmarshal(one.Properties[players], &list); err != nil {
			t.Fatal(err)
		}
		for _, player := range list {
			for _, role := range []string{"tank", "healer"} {
				if player[role] = 0; player["roles"].([]any)[0] == role {
					player[role] = 1
				}
			}
			delete(player, "roles")
		}
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		one.Properties = map[string][]byte{players: text}
		all = append(all, one)
	}
	return settings, all
}

// Where roles are numbers whose sums must be met, nearly as many matches are found as with roles.
func TestSumsLoseFewMatches(t *testing.T) {
	for _, n := range []int{100, 1000, 5000} {
		tickets := crowd(n)
		want, err := fake.Run(function, fake.Request{Settings: five(t), Tickets: tickets})
		if err != nil {
			t.Fatal(err)
		}
		settings, sums := asSums(t, tickets)
		got, err := fake.Run(function, fake.Request{Settings: settings, Tickets: sums})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("of %d tickets, %d matches with sums and %d with roles", n, len(got), len(want))
		if len(got) < len(want)*96/100-1 {
			t.Errorf("of %d tickets, %d matches are found with sums, and %d with roles", n, len(got), len(want))
		}
	}
}

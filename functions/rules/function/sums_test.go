package function

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/fake"
)

// asSums are rules and tickets in which roles are numbers whose sums must be met.
func asSums(t testing.TB, tickets []fake.Ticket, tanks, healers string) (settings string, all []fake.Ticket) {
	settings = `{
		"numbers": ["skill"],
		"values": {"tank": "number", "healer": "number"},
		"teams": [{"name": "team", "copies": 2, "size": 5}],
		"regions": {"max": {"start": 60, "steps": [[15, 90], [30, 150]]}},
		"rules": [
			` + tanks + `,
			` + healers + `,
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

// Where roles are numbers whose sums must be met, nearly as many matches are found as with roles: as our language says
// it, and as files of other matchmakers do.
func TestSumsLoseFewMatches(t *testing.T) {
	for name, rule := range map[string]string{
		"totals":    `{"total": %q, "sum": 1, "in": "team"}`,
		"sums":      `{"compare": [{"sum": %q, "in": "team"}, "=", 1]}`,
		"mirrored":  `{"compare": [1, "=", {"sum": %q, "in": "team"}]}`,
		"distances": `{"compare": [{"abs": {"minus": [{"sum": %q, "in": "team"}, 1]}}, "<=", {"start": 0.01, "steps": [[9, 0.02]]}]}`,
		"reversed":  `{"compare": [0.01, ">=", {"abs": {"minus": [1, {"sum": %q, "in": ["team"]}]}}]}`,
	} {
		for _, n := range []int{100, 1000, 5000} {
			tickets := crowd(n)
			want, err := fake.Run(function, fake.Request{Settings: five(t), Tickets: tickets})
			if err != nil {
				t.Fatal(err)
			}
			settings, sums := asSums(t, tickets, fmt.Sprintf(rule, "tank"), fmt.Sprintf(rule, "healer"))
			got, err := fake.Run(function, fake.Request{Settings: settings, Tickets: sums})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: of %d tickets, %d matches, and %d with roles", name, n, len(got), len(want))
			if len(got) < len(want)*96/100-1 {
				t.Errorf("%s: of %d tickets, %d matches are found, and %d with roles", name, n, len(got), len(want))
			}
		}
	}
}

// Parties that no team can have, as they alone are too much for a sum, take nothing from the others, however many wait
// and however long.
func TestPartiesThatAreTooMuchForASumTakeNothing(t *testing.T) {
	tickets := crowd(2000)
	for range 40_000 {
		tickets = append(tickets, party(1500, time.Hour, both, "tank", "tank"))
	}
	settings, sums := asSums(t, tickets, `{"total": "tank", "sum": 1, "in": "team"}`,
		`{"compare": [{"sum": "healer", "in": "team"}, "<=", 1]}`)
	few := fake.Request{Settings: settings, Tickets: sums[:2000], Budget: time.Second}
	all := fake.Request{Settings: settings, Tickets: sums, Budget: time.Second}
	want, err := fake.Run(function, few)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fake.Run(function, all)
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d matches, without them %d", len(got), len(want)); len(want) < 200 || len(got) != len(want) {
		t.Errorf("%d matches, without them %d", len(got), len(want))
	}
}

package function

import (
	"fmt"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/fake"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// A distance to the average latency is one in both directions, for the search and for the rulestest.
func TestImportedDistanceOfLatencies(t *testing.T) {
	for _, c := range []struct {
		reference string
		more      string
		latencies []float64
		want      bool
	}{
		{"avg", "", []float64{100, 100, 100, 30}, false},
		{"avg", "", []float64{30, 30, 30, 100}, false},
		{"avg", "", []float64{60, 60, 80, 80}, true},
		{"avg", "", []float64{60, 60, 60, 80}, true},
		{"avg", `, "maxLatency": 79`, []float64{60, 60, 60, 80}, false},
		{"min", "", []float64{100, 100, 100, 30}, false},
		{"min", "", []float64{50, 50, 50, 30}, true},
	} {
		settings := fmt.Sprintf(`{"flexmatch": {"ruleLanguageVersion": "1.0",
			"teams": [{"name": "all", "minPlayers": 4, "maxPlayers": 4}],
			"rules": [{"name": "near", "type": "latency", "maxDistance": 20, "distanceReference": %q%s}]}}`, c.reference, c.more)
		rules, err := dialects.Read([]byte(settings))
		if err != nil {
			t.Fatal(err)
		}
		var tickets []fake.Ticket
		var pool []judge.Ticket
		for _, n := range c.latencies {
			tickets = append(tickets, fake.Ticket{Players: []fake.Player{{
				Properties: map[string][]byte{"latency": fmt.Appendf(nil, `{"eu": %v}`, n)},
			}}})
			pool = append(pool, judge.Ticket{Players: []judge.Player{{"latency": map[string]float64{"eu": n}}}})
		}
		if _, found := judge.Any(rules, pool); found != c.want {
			t.Errorf("%s %v: the judge says %v, want %v", c.reference, c.latencies, found, c.want)
		}
		if found := len(run(t, translated(t, settings), tickets)) == 1; found != c.want {
			t.Errorf("%s %v: the search says %v, want %v", c.reference, c.latencies, found, c.want)
		}
	}
}

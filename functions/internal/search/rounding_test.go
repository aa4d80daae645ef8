package search_test

import (
	"testing"

	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// Three times 0.1 is more than 0.3, and twice 1e308 is infinite: the average and the median are still what all have.
func TestAveragesAreNeverOutsideTheirNumbers(t *testing.T) {
	r, err := rules.Parse([]byte(`{"numbers": ["skill"], "teams": [{"name": "a", "size": 3}], "rules": [
		{"compare": [{"avg": "skill"}, "=", {"max": "skill"}]},
		{"compare": [{"median": "skill"}, "=", {"min": "skill"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, skill := range []float64{0.1, 0.7, 1e308, -1e308} {
		var pool []judge.Ticket
		for range 3 {
			pool = append(pool, judge.Ticket{Players: []judge.Player{{"skill": skill}}})
		}
		if _, found := judge.Any(r, pool); !found {
			t.Errorf("the reference has no match of three with %v", skill)
		}
		if got := searched(r, pool); got.matches != 1 || got.wrong != "" {
			t.Errorf("three with %v: %d matches, %s", skill, got.matches, got.wrong)
		}
	}
}

package search_test

import (
	"testing"

	"matchmaker.dev/functions/internal/search"
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

// Parties are near each other by the mean of their players, also where the sum of these is infinite. With so many
// others, only the nearest tickets are tried.
func TestPartiesOfVeryLargeNumbersAreNear(t *testing.T) {
	r, err := rules.Parse([]byte(`{"numbers": ["skill"], "teams": [{"name": "a", "copies": 2, "size": 2}],
		"rules": [{"spread": "skill", "max": 1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var pool []judge.Ticket
	for range 2 {
		pool = append(pool, judge.Ticket{Age: 9, Players: []judge.Player{{"skill": 1.2e308}, {"skill": 1.2e308}}})
	}
	for i := range 40 {
		pool = append(pool, judge.Ticket{Players: []judge.Player{{"skill": 100 * float64(i)}}})
	}
	if found := search.Search(r, tickets(pool), nil, plenty); len(found) != 1 {
		t.Errorf("%d matches, want that of the parties", len(found))
	}
}

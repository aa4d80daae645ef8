package search_test

import (
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// Anchors that are in no match, and cost much, come before those that are in one. There are too few tickets for the
// quick tries to come first, so the others may take what those would have.
func TestFewTicketsHaveMostOfTheWork(t *testing.T) {
	r, err := rules.Parse([]byte(`{"values": {"skill": "number"},
		"teams": [{"name": "red", "size": 3}, {"name": "blue", "size": 3}],
		"rules": [{"spread": "skill", "max": 2000}, {"gap": "skill", "max": 0.001}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var pool []judge.Ticket
	player := func(age, skill float64) {
		pool = append(pool, judge.Ticket{Age: age, Players: []judge.Player{{"skill": skill}}})
	}
	for i := range 40 { // no two teams of these have the same mean
		player(100, 1+float64(i)*float64(i)*1.0137+float64(i*i*i)*0.00717)
	}
	for range 6 {
		player(1, 9000)
	}
	// The anchors that fail take about 1,400,000 steps.
	if found := search.Search(r, tickets(pool), nil, 4_000_000); len(found) != 1 || len(found[0].Teams) != 2 {
		t.Errorf("found %+v, want the match of the six", found)
	}
}

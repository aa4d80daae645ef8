package search_test

import (
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// One of two conditions must hold, and both refuse a ticket beside others. So the search does not try what neither
// allows, which would be very many matches.
func TestOneOfSeveralConditionsRefusesTickets(t *testing.T) {
	r, err := rules.Parse([]byte(`{"values": {"skill": "number", "mode": "string"}, "priority": "skill",
		"teams": [{"name": "red", "copies": {"min": 0, "max": 2}, "size": {"min": 1, "max": 2}},
			{"name": "blue", "size": {"min": 2, "max": 3}}],
		"rules": [{"any": [{"different": "mode"}, {"different": "mode"}]},
			{"in": "match", "total": "skill", "sum": {"min": 12, "max": 20}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var pool []judge.Ticket
	add := func(age float64, mode string, skills ...float64) {
		var players []judge.Player
		for _, skill := range skills {
			players = append(players, judge.Player{"skill": skill, "mode": mode})
		}
		pool = append(pool, judge.Ticket{Age: age, Players: players})
	}
	add(22, "y", 2)
	add(31, "x", 7, 8)
	add(36, "y", 6)
	for _, age := range []float64{22, 22, 31, 30, 18} {
		add(age, "y", 8)
	}
	for _, skill := range []float64{0, 0, 4} {
		add(20, "y", skill)
	}
	for _, skill := range []float64{5, 2, 6, 7} {
		add(30, "x", skill)
	}
	// Without that, as many steps find nothing.
	if found := search.Search(r, tickets(pool), nil, 100_000); len(found) == 0 {
		t.Error("found no match of two in different modes")
	}
}

package search_test

import (
	"math"
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

// Tickets that wait longest, take much work and are in no match do not keep the others from one for ever.
func TestOldTicketsThatFitBadlyLeaveOthersATurn(t *testing.T) {
	r, err := rules.Parse([]byte(`{"values": {"skill": "number"},
		"teams": [{"name": "red", "size": 3}, {"name": "blue", "size": 3}],
		"rules": [{"spread": "skill", "max": 2000}, {"gap": "skill", "max": 0}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var pool []judge.Ticket
	var created []float64
	now := 1e12
	player := func(age, skill float64) {
		pool = append(pool, judge.Ticket{Players: []judge.Player{{"skill": skill}}})
		created = append(created, now-1000*age)
	}
	for i := range 300 { // no two teams of these have the same mean
		player(5000, 500*math.Sqrt(float64(i+2)))
	}
	for range 6 {
		player(10, 50000)
	}
	for range 6 {
		player(100, 60000)
	}
	k, in := search.NewSession(r), 0
	k.Take(tickets(pool), created, 0, nil, now, true)
	for run := 0; in < 2; run++ {
		if run == 100 {
			t.Fatalf("%d of two matches are made", in)
		}
		found := k.Search(&search.Games{}, 1_600_000)
		for _, m := range found {
			in++
			for _, team := range m.Teams {
				for _, ticket := range team.Tickets {
					created[ticket] = math.NaN()
				}
			}
			k.Lose(&m)
		}
		if len(found) > 0 { // then what is left over is no match at this time, also for a search that has nothing else
			var rest []judge.Ticket
			var at []float64
			for i, one := range pool {
				if created[i] == created[i] {
					rest, at = append(rest, one), append(at, created[i])
				}
			}
			again := search.NewSession(r)
			again.Take(tickets(rest), at, 0, nil, now, true)
			if more := again.Search(&search.Games{}, 1_600_000); len(more) > 0 {
				t.Errorf("run %d overlooked %d matches", run, len(more))
			}
		}
		now += 1000
		k.Take(tickets(nil), nil, uint32(len(pool)), nil, now, true)
	}
}

package function

import (
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/fake"
)

// calm are the rules of one against one, whose tickets wait for nearer matches.
const calm = `{
	"numbers": ["skill"],
	"teams": [{"name": "side", "copies": 2, "size": 1}],
	"rules": [{"name": "near", "spread": "skill", "max": 400}],
	"patience": {"until": 20}
}`

// hasty are the same rules without patience.
var hasty = strings.Replace(calm, `"patience": {"until": 20}`, `"order": []`, 1)

// ladder is tickets that are 100 apart, and came one after another.
func ladder(n int, youngest time.Duration) (tickets []fake.Ticket) {
	for i := range n {
		tickets = append(tickets, fake.Ticket{
			Wait:       youngest + time.Duration(i%3)*500*time.Millisecond,
			Attributes: map[string]float64{"skill": 1000 + 100*float64(i)},
		})
	}
	return tickets
}

// Where players come, tickets wait for a nearer match: until their last moment, and not for one that is near enough.
// Where no player comes, they take what there is.
func TestTicketsWaitWhereItPays(t *testing.T) {
	beside, late := ladder(9, time.Second), ladder(9, time.Second)
	beside[4].Attributes["skill"], late[8].Wait = 1310, 20*time.Second
	for name, c := range map[string]struct {
		tickets []fake.Ticket
		want    [][]uint32
	}{
		"many come":               {ladder(9, time.Second), nil},
		"few came, a while ago":   {ladder(2, 10*time.Second), [][]uint32{{1, 0}}},
		"one is near":             {beside, [][]uint32{{4, 3}}},
		"one waits no longer":     {late, [][]uint32{{8, 7}}},
		"all of them wait longer": {ladder(2, 30*time.Second), [][]uint32{{1, 0}}},
	} {
		var got [][]uint32
		for _, p := range run(t, calm, c.tickets) {
			both := p.Tickets()
			slices.Sort(both)
			slices.Reverse(both)
			got = append(got, both)
		}
		if !slices.EqualFunc(got, c.want, slices.Equal) {
			t.Errorf("%s: the matches are %v, want %v", name, got, c.want)
		}
		if all := run(t, hasty, c.tickets); len(all) != len(c.tickets)/2 {
			t.Errorf("%s: without patience there are %d matches", name, len(all))
		}
	}
}

// An explanation says that a ticket waits for a nearer match, and for how long.
func TestSaysThatTicketsWaitForNearerMatches(t *testing.T) {
	tickets := ladder(9, time.Second)
	tickets = append(tickets, fake.Ticket{Attributes: map[string]float64{"skill": 5000}})
	got, err := fake.Explain(function, fake.Request{Settings: calm, Tickets: tickets, Asked: []uint32{4, 9}})
	if err != nil || len(got) < 2 {
		t.Fatal(got, err)
	}
	const waits = "patience: there is a match, and a nearer one is expected within 3 s"
	if got[0].Ticket != 4 || got[0].Reason != waits || got[0].Candidates != 8 {
		t.Errorf("got %+v, want %q", got[0], waits)
	}
	if got[1].Ticket != 9 || got[1].Reason != "near: without it there is a match" {
		t.Errorf("got %+v of a ticket that nobody can be with", got[1])
	}
}

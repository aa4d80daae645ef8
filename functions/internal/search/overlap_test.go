package search_test

import (
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// oneByOne is tickets of one player each, the oldest first: of one kind where is says so, or else of another.
func oneByOne(n int, is func(i int) bool, yes, no judge.Player) (pool []judge.Ticket) {
	for i := range n {
		player := no
		if is(i) {
			player = yes
		}
		pool = append(pool, judge.Ticket{Age: float64(2 * (n - i)), Players: []judge.Player{player}})
	}
	return pool
}

// findsOne searches a pool whose only match has the players of a kind.
func findsOne(t *testing.T, text string, pool []judge.Ticket, work, players int) {
	t.Helper()
	r, err := rules.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	found := search.Search(r, tickets(pool), nil, work)
	if len(found) != 1 || len(found[0].Teams[0].Tickets) != players {
		t.Errorf("found %+v, want the match of %d", found, players)
	}
}

// Conditions end the search at once if they say of a ticket that it is in no match with others, or that too few tickets
// are left for what is lacking. Without that there are very many matches to try.
func TestConditionsThatRefuseAreLookedAtEarly(t *testing.T) {
	for name, rule := range map[string]string{
		"an element that all must have":    `{"overlap": "maps", "with": ["a"], "count": {"min": 1}, "in": "team"}`,
		"an element that nobody may have":  `{"overlap": "maps", "with": ["b"], "count": {"max": 0}}`,
		"a set that is too small":          `{"overlap": "maps", "union": "maps", "count": {"min": 2}}`,
		"elements that not all have":       `{"overlap": "both", "intersection": "maps", "count": {"min": 1}}`,
		"more than a list may have":        `{"overlap": "maps", "union": "lost", "count": {"max": 0}}`,
		"so many who must have an element": `{"holders": "maps", "of": "a", "count": {"min": 8}, "in": "team"}`,
	} {
		t.Run(name, func(t *testing.T) {
			// The oldest can be with the youngest alone, which are tried last.
			pool := oneByOne(27, func(i int) bool { return i == 0 || i > 19 },
				judge.Player{"maps": []string{"a", "c"}, "both": []string{"a"}, "lost": []string{}},
				judge.Player{"maps": []string{"b"}, "both": []string{"a"}, "lost": []string{"b", "c"}})
			findsOne(t, `{"values": {"maps": "set", "both": "set", "lost": "set"}, "teams": [{"name": "all", "size": 8}],
				"rules": [`+rule+`, {"compare": [{"count": "maps", "in": "match"}, "=", 8]}]}`, pool, 200_000, 8)
		})
	}
}

// What a ticket has in common with a list of all others counts the tickets that are yet to come.
func TestOthersBringWhatATicketLacks(t *testing.T) {
	pool := oneByOne(2, func(i int) bool { return i == 0 }, judge.Player{"wants": []string{"x"}, "has": []string{"y"}},
		judge.Player{"wants": []string{"y"}, "has": []string{"x"}})
	for _, rule := range []string{
		`{"overlap": "wants", "union": "has", "count": {"min": 1}}`,
		`{"overlap": "wants", "union": "has", "count": {"min": 1, "max": 1}}`,
		`{"overlap": "has", "intersection": "has", "count": {"max": 0}}`,
	} {
		findsOne(t, `{"values": {"wants": "set", "has": "set"}, "teams": [{"name": "all", "size": 2}], "rules": [`+rule+`]}`,
			pool, 10_000, 2)
	}
}

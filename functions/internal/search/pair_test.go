package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/rules"
)

// oneVsOne is a rule set of matches of two, of which spreads and keys are all.
func (w world) oneVsOne() object {
	missing := w.one("reject", "any")
	values := object{"skill": object{"type": "number", "missing": missing}, "mode": object{"type": "string"},
		"mean": object{"type": "number", "from": "skill", "party": "avg", "missing": missing}}
	team := object{"name": "red", "size": 1, "copies": 2}
	if w.chance(3) {
		team = object{"name": "red", "size": 2}
	}
	var conditions []any
	for range 1 + w.IntN(2) {
		conditions = append(conditions, object{"spread": w.one("skill", "mean"), "max": w.bound(6, false)})
	}
	if w.chance(2) {
		conditions = append(conditions, object{"same": "mode"})
	}
	return object{"values": values, "teams": []any{team}, "rules": conditions}
}

// Matches of two are found without the search for teams. They are those that it finds, with the same measures: a rule
// that always holds makes it search.
func TestPairsEqualTheSearch(t *testing.T) {
	counts := map[string]int{}
	for i := range *cases {
		random := world{rand.New(rand.NewPCG(*seed+uint64(i), 7))}
		set := random.oneVsOne()
		pool := tickets(random.pool(2 + random.IntN(40)))
		var got [2][]search.Match
		for n, more := range []object{nil, {"compare": []any{1, ">", 0}}} {
			if more != nil {
				set["rules"] = append(set["rules"].([]any), more)
			}
			text, err := json.Marshal(set)
			if err != nil {
				t.Fatal(err)
			}
			r, err := rules.Parse(text)
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			got[n] = search.Search(r, pool, nil, plenty)
		}
		if a, b := printed(got[0]), printed(got[1]); a != b {
			t.Fatalf("seed %d: %v\nfound %s\nwant  %s", *seed+uint64(i), set, a, b)
		}
		counts["matches"] += len(got[0])
		if strings.Contains(fmt.Sprint(set), "copies") {
			counts["teams"] += len(got[0])
		}
	}
	if t.Logf("%v", counts); counts["matches"] < *cases || counts["teams"] < *cases/4 ||
		counts["teams"] == counts["matches"] {
		t.Errorf("the cases say little: %v", counts)
	}
}

// printed are matches as text that can be compared.
func printed(matches []search.Match) string {
	var text strings.Builder
	for _, m := range matches {
		if m.More != nil {
			fmt.Fprint(&text, *m.More)
			m.More = nil
		}
		fmt.Fprint(&text, m)
	}
	return text.String()
}

// Where more wait than are tried in all combinations, the search remembers how long no ticket is near enough.
func TestPairsAreRememberedUntilABoundWidens(t *testing.T) {
	h := history{budget: 2 * time.Second, settings: `{"values": {"skill": "number"},
		"teams": [{"name": "one", "size": 1, "copies": 2}],
		"rules": [{"spread": "skill", "max": {"start": 10, "grow": 5, "until": 70}}]}`}
	var first moment
	for i := range 60 { // pairs are 21 to 79 apart, and 1,000 from each other
		skill := i/2*1000 + i%2*(20+i)
		first.come = append(first.come, fake.Ticket{Wait: time.Duration(60-i) * time.Millisecond,
			Properties: map[string][]byte{"players": fmt.Appendf(nil, `[{"skill": %d}]`, skill)}})
	}
	h.moments = append(h.moments, first)
	for range 16 {
		h.moments = append(h.moments, moment{after: time.Second})
	}
	if got := h.plays(); got.wrong != "" || got.proposed != 25 || got.left == 0 {
		t.Errorf("%d matches, %d runs left somebody: %s", got.proposed, got.left, got.wrong)
	}
}

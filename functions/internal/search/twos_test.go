package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
)

// twos is a rule set of matches of two, of which spreads and keys are all.
func (w world) twos() object {
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
func TestTwosAreThoseThatTheSearchFinds(t *testing.T) {
	counts := map[string]int{}
	for i := range *cases {
		random := world{rand.New(rand.NewPCG(*seed+uint64(i), 7))}
		set := random.twos()
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
		if a, b := fmt.Sprint(got[0]), fmt.Sprint(got[1]); a != b {
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

package search_test

import (
	"fmt"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// Numbers exactly at a limit are within it, although the fractions that stand for decimals are not; those a little
// beyond it are not.
func TestNumbersAtALimit(t *testing.T) {
	const duel, four = `"teams": [{"name": "a", "copies": 2, "size": 1}]`, `"teams": [{"name": "a", "copies": 2, "size": 2}]`
	skills := func(all ...float64) (players []judge.Player) {
		for _, n := range all {
			players = append(players, judge.Player{"n": n, "l": map[string]float64{"eu": n, "us": 0.3}})
		}
		return players
	}
	for name, c := range map[string]struct {
		rules   string // with the limit
		at, far any
		players []judge.Player
	}{
		"a spread":         {duel + `, "rules": [{"spread": "n", "max": %v}]`, 0.1, 0.0999, skills(0.3, 0.4)},
		"of great numbers": {duel + `, "rules": [{"spread": "n", "max": %v}]`, 0.1, 0.0999, skills(100000, 100000.1)},
		"below 0":          {duel + `, "rules": [{"spread": "n", "max": %v}]`, 0.1, 0.0999, skills(-0.4, -0.3)},
		"beside the anchor": {
			duel + `, "rules": [{"spread": "n", "max": %v, "in": "anchor"}]`, 0.1, 0.0999, skills(0.3, 0.4)},
		"of each ticket": {duel + `, "rules": [{"spread": "n", "max": {"start": %v, "clock": "each"}}]`, 0.1, 0.0999,
			skills(0.3, 0.4)},
		"that grows": {duel + `, "rules": [{"spread": "n", "max": {"start": 0, "grow": %v, "until": 9}}]`, 0.7, 0.6999,
			skills(0, 2.1)}, // at 3 seconds
		"in any": {duel + `, "rules": [{"any": [{"spread": "n", "max": %v}, {"same": "n"}]}]`, 0.1, 0.0999, skills(0.3, 0.4)},
		"a gap":  {duel + `, "rules": [{"gap": "n", "max": %v}]`, 0.1, 0.0999, skills(0.3, 0.4)},
		"a gap of averages near 0": {four + `, "rules": [{"gap": "n", "max": %v}, {"spread": "n", "max": 9}]`, 0.1, 0.0999,
			skills(-0.9, -0.8, 0.5, 0.8)},
		"a total":   {duel + `, "rules": [{"total": "n", "sum": {"max": %v}}]`, 0.3, 0.2999, skills(0.1, 0.2)},
		"a least":   {four + `, "rules": [{"total": "n", "sum": {"min": %v}}]`, 0.8, 0.8001, skills(0.1, 0.7, 0, 0)},
		"near 0":    {four + `, "rules": [{"total": "n", "sum": {"max": %v}}]`, 0, -0.0001, skills(0.1, 0.2, -0.3, 0)},
		"a sum":     {duel + `, "rules": [{"compare": [{"sum": "n"}, "<=", %v]}]`, 0.3, 0.2999, skills(0.1, 0.2)},
		"equal":     {duel + `, "rules": [{"compare": [{"sum": "n"}, "=", %v]}]`, 0.3, 0.2999, skills(0.1, 0.2)},
		"different": {duel + `, "rules": [{"compare": [{"sum": "n"}, "!=", %v]}]`, 0.2999, 0.3, skills(0.1, 0.2)},
		"less":      {duel + `, "rules": [{"compare": [%v, "<", {"sum": "n"}]}]`, 0.2999, 0.3, skills(0.1, 0.2)},
		"a distance": {duel + `, "rules": [{"compare": [{"abs": {"minus": [{"each": "n"}, 0.3]}}, "<=", %v]}]`, 0.1, 0.0999,
			skills(0.3, 0.4)},
		"a quotient": {duel + `, "rules": [{"compare": [{"over": [{"sum": "n"}, 3]}, "<=", %v]}]`, 0.1, 0.0999, skills(0.1, 0.2)},
		"a latency over the best": {duel + `, "regions": {"from": "l", "names": ["eu", "us"], "over": %v, "max": 9},
			"rules": [{"compare": [{"min": {"latency": "l"}}, ">", 0.3]}]`, 0.1, 0.0999, skills(0.4, 0.4)},
		"a latency over the least": {duel + `, "regions": {"from": "l", "apart": %v},
			"rules": [{"compare": [{"max": {"latency": "l"}}, ">", 0.3]}]`, 0.1, 0.0999, skills(0.4, 0.3)},
		"a latency": {duel + `, "regions": {"from": "l", "max": {"start": 0, "grow": %v, "until": 9}},
			"rules": [{"compare": [{"max": {"latency": "l"}}, ">", 1]}]`, 0.7, 0.6999, skills(2.1, 2.1)},
	} {
		for limit, allowed := range map[any]bool{c.at: true, c.far: false} {
			r, err := rules.Parse(fmt.Appendf(nil, `{"values": {"n": "number", "l": {"type": "map", "missing": "any"}}, `+c.rules+`}`, limit))
			if err != nil {
				t.Fatal(name, err)
			}
			var pool []judge.Ticket
			for _, p := range c.players {
				pool = append(pool, judge.Ticket{Age: 3, Players: []judge.Player{p}})
			}
			found := search.Search(r, tickets(pool), nil, plenty)
			if _, ok := judge.Any(r, pool); ok != allowed || (len(found) == 1) != allowed {
				t.Errorf("%s with %v: the search finds %d matches, the judge any: %v", name, limit, len(found), ok)
			}
		}
	}
}

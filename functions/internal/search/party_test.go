package search_test

import (
	"fmt"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// A party does not hide a player without a value that the rules need, however the values of parties are merged.
func TestPartyHidesNobodyWithoutAValue(t *testing.T) {
	number, set, latency := 10.0, []string{"a"}, map[string]float64{"eu": 20}
	for _, c := range []struct {
		kind, party, rule string
		has               any
	}{
		{"number", "each", `{"spread": "v", "max": 10}`, number},
		{"number", "avg", `{"spread": "v", "max": 10}`, number},
		{"number", "min", `{"total": "v", "sum": {"min": 1}}`, number},
		{"number", "max", `{"compare": [{"avg": "v"}, ">", 0]}`, number},
		{"number", "sum", `{"any": [{"spread": "v", "max": 10}, {"gap": "v", "max": 1}]}`, number},
		{"string", "each", `{"same": "v"}`, "x"},
		{"set", "each", `{"share": "v"}`, set},
		{"set", "union", `{"share": "v"}`, set},
		{"set", "intersection", `{"holders": "v", "of": "a", "count": {"min": 1}}`, set},
		{"map", "each", `{"latency": "v", "max": 100}`, latency},
		{"map", "avg", `{"latency": "v", "max": 100}`, latency},
		{"map", "min", `{"latency": "v", "max": 100}`, latency},
		{"map", "max", `{"latency": "v", "max": 100}`, latency},
	} {
		for _, missing := range []string{"reject", "any"} {
			t.Run(fmt.Sprint(c.kind, c.party, missing), func(t *testing.T) {
				regions := ""
				if c.kind == "map" {
					regions = `"regions": {"from": "v"},`
				}
				r, err := rules.Parse(fmt.Appendf(nil, `{"values": {"v": {"type": %q, "party": %q, "missing": %q}}, %s
					"teams": [{"name": "red", "size": {"min": 1, "max": 2}}], "rules": [%s]}`,
					c.kind, c.party, missing, regions, c.rule))
				if err != nil {
					t.Fatal(err)
				}
				pool := []judge.Ticket{{Age: 1, Players: []judge.Player{{"v": c.has}, {}}}}
				found := search.Search(r, tickets(pool), nil, plenty)
				_, ok := judge.Any(r, pool)
				if allowed := missing == "any"; (len(found) == 1) != allowed || ok != allowed {
					t.Errorf("the search finds %d matches, the judge any: %v", len(found), ok)
				}
				reasons := search.Explain(r, tickets(pool), nil, found, []uint32{0}, plenty)
				if missing == "reject" && (len(reasons) != 1 || reasons[0].Kind != search.ValueMissing) {
					t.Errorf("the reasons are %+v", reasons)
				}
			})
		}
	}
}

// Numbers that cannot be are missing: a negative latency, reluctance, weight or deviation.
func TestNegativeNumbersThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		rules  string
		player judge.Player
		region string // of the match; - for none
	}{
		"a latency": {
			`"regions": {"choose": "mean"}, "teams": [{"name": "a", "size": 2}]`,
			judge.Player{"latency": map[string]float64{"us": -1e6, "eu": 50}}, "eu",
		},
		"all latencies": {
			`"regions": {}, "teams": [{"name": "a", "size": 2}]`,
			judge.Player{"latency": map[string]float64{"us": -1}}, "-",
		},
		"another map of latencies": {
			`"values": {"wired": {"type": "map"}}, "regions": {}, "teams": [{"name": "a", "size": 2}],
			"rules": [{"latency": "wired", "max": 100}]`,
			judge.Player{"latency": map[string]float64{"us": 10}, "wired": map[string]float64{"us": -10}}, "-",
		},
		"a reluctance": {
			`"roles": {"from": "roles"}, "teams": [{"name": "a", "size": 2, "roles": {"tank": 1, "healer": 1}}]`,
			judge.Player{"roles": map[string]float64{"tank": -5}}, "-",
		},
		"a deviation": {
			`"numbers": ["skill", "sigma"], "teams": [{"name": "a", "copies": 2, "size": 1}],
			"rules": [{"compare": [{"favorite": "skill", "deviation": "sigma", "beta": 4}, "<=", 1]}]`,
			judge.Player{"skill": 1.0, "sigma": -1.0}, "-",
		},
	} {
		r, err := rules.Parse([]byte("{" + c.rules + "}"))
		if err != nil {
			t.Fatal(name, err)
		}
		other := judge.Player{"latency": map[string]float64{"us": 300, "eu": 50}, "wired": map[string]float64{"us": 5},
			"roles": map[string]float64{"healer": 0}, "skill": 1.0, "sigma": 1.0}
		pool := []judge.Ticket{{Age: 2, Players: []judge.Player{other}}, {Age: 1, Players: []judge.Player{c.player}}}
		got := "-"
		for _, m := range search.Search(r, tickets(pool), nil, plenty) {
			got = m.Region
		}
		judged := "-"
		if m, ok := judge.Any(r, pool); ok {
			judged = m.Region
		}
		if got != c.region || judged != c.region {
			t.Errorf("%s: the search has %q, the judge %q, want %q", name, got, judged, c.region)
		}
	}
}

// A weight that is negative is as if it were not there.
func TestNegativeWeightCountsAsOne(t *testing.T) {
	r, err := rules.Parse([]byte(`{"numbers": ["filled"], "roles": {"from": "roles", "weight": "filled"},
		"teams": [{"name": "a", "size": 2, "roles": {"tank": 1, "healer": 1}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	likes := map[string]float64{"tank": 0, "healer": 3}
	pool := []judge.Ticket{
		{Age: 2, Players: []judge.Player{{"roles": likes, "filled": -9.0}}},
		{Age: 1, Players: []judge.Player{{"roles": likes, "filled": 0.5}}},
	}
	found := search.Search(r, tickets(pool), nil, plenty)
	if len(found) != 1 {
		t.Fatal(found)
	}
	team := found[0].Teams[0]
	for i, number := range team.Tickets {
		if want := []string{"tank", "healer"}[number]; team.Roles[i] != want {
			t.Errorf("ticket %d is a %s", number, team.Roles[i])
		}
	}
}

// The match with the least cost is made, however little less it is.
func TestCheaperMatchIsMade(t *testing.T) {
	for scale, want := range map[string]string{"200": "us", "1": "us", "10000": "us"} {
		r, err := rules.Parse([]byte(`{"values": {"latency": {"type": "map"}}, "regions": {},
			"teams": [{"name": "a", "size": 1}, {"name": "b", "size": 1}],
			"prefer": [{"low": {"latency": "latency"}, "scale": ` + scale + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		near := judge.Player{"latency": map[string]float64{"us": 50, "eu": 100, "ap": 300}}
		far := judge.Player{"latency": map[string]float64{"us": 100, "eu": 50, "ap": 100}}
		pool := []judge.Ticket{
			{Age: 30, Players: []judge.Player{near}}, {Age: 30, Players: []judge.Player{far}},
			{Age: 30, Players: []judge.Player{near}},
		}
		found := search.Search(r, tickets(pool), nil, plenty)
		if len(found) != 1 || found[0].Region != want || found[0].Teams[0].Tickets[0]+found[0].Teams[1].Tickets[0] != 2 {
			t.Errorf("scale %s: %+v", scale, found)
		}
	}
}

// Of matches, the one that costs less is made even where its tickets are farther apart.
func TestCostGoesBeforeNearness(t *testing.T) {
	r, err := rules.Parse([]byte(`{"numbers": ["skill", "toxic"], "teams": [{"name": "a", "copies": 2, "size": 1}],
		"rules": [{"spread": "skill", "max": 100}], "prefer": [{"low": {"max": "toxic"}, "weight": 0.1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	player := func(age, skill, toxic float64) judge.Ticket {
		return judge.Ticket{Age: age, Players: []judge.Player{{"skill": skill, "toxic": toxic}}}
	}
	pool := []judge.Ticket{player(9, 500, 0), player(8, 501, 1), player(7, 590, 0)}
	found := search.Search(r, tickets(pool), nil, plenty)
	if len(found) != 1 || found[0].Cost != 0 {
		t.Errorf("%+v", found)
	}
}

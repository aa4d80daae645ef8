package dialects_test

import (
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// trio is a rule set of FlexMatch for two squads of 1 or 2 and a boss, with one rule, which is exact.
func trio(t *testing.T, rule string) *translation.Translation {
	t.Helper()
	result, err := dialects.Import(dialects.FlexMatch, []byte(`{"ruleLanguageVersion": "1.0",
		"playerAttributes": [{"name": "level", "type": "number"}, {"name": "maps", "type": "string_list"}],
		"teams": [{"name": "squad", "minPlayers": 1, "maxPlayers": 2, "quantity": 2},
			{"name": "boss", "minPlayers": 1, "maxPlayers": 1}],
		"rules": [{"name": "r", "measurements": `+rule+`}]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if l := lineOf(t, result, "r"); l.Verdict != translation.Exact {
		t.Fatal(l)
	}
	return result
}

// team is a ticket of players with these levels.
func team(levels ...float64) judge.Ticket {
	one := judge.Ticket{}
	for _, level := range levels {
		maps := []string{"a", "b", "c"}[:int(level)]
		one.Players = append(one.Players, judge.Player{"level": level, "maps": maps})
	}
	return one
}

// Tickets are the first squad, the second, and the boss.
func TestFlexMatchConstructsMeanWhatTheySay(t *testing.T) {
	const first, second = "teams[squad_1].players", "teams[squad_2].players"
	const level, all = ".attributes[level]", "flatten(teams[*].players.attributes[maps])"
	for _, c := range []struct {
		rule string
		pool []judge.Ticket
		want bool
	}{
		{`["count(` + first + `)", "count(` + second + `)", "count(teams[boss].players)"], "type": "comparison",
			"operation": "="`, []judge.Ticket{team(1), team(2), team(3)}, true},
		{`["count(` + first + `)", "count(` + second + `)", "count(teams[boss].players)"], "type": "comparison",
			"operation": "="`, []judge.Ticket{team(1, 1), team(2, 2), team(3)}, false},
		{`["count(` + first + `)", "count(` + second + `)"], "type": "comparison", "operation": "!="`,
			[]judge.Ticket{team(1, 1), team(2), team(3)}, true},
		{`["count(` + first + `)", "count(` + second + `)"], "type": "comparison", "operation": "!="`,
			[]judge.Ticket{team(1), team(2), team(3)}, false},
		{`["max(` + first + level + `)"], "type": "comparison", "operation": "<",
			"referenceValue": "min(` + second + level + `)"`, []judge.Ticket{team(1), team(2, 3), team(3)}, true},
		{`["max(` + first + level + `)"], "type": "comparison", "operation": "<",
			"referenceValue": "min(` + second + level + `)"`, []judge.Ticket{team(2), team(2, 2), team(3)}, false},
		{`["flatten(teams[squad_1, boss].players.attributes[level])"], "type": "comparison", "operation": "="`,
			[]judge.Ticket{team(2, 2), team(1, 1), team(2)}, true},
		{`["flatten(teams[squad_1, boss].players.attributes[level])"], "type": "comparison", "operation": "="`,
			[]judge.Ticket{team(2, 2), team(1, 1), team(3)}, false},
		{`["set_intersection(` + all + `)"], "type": "collection", "operation": "contains", "referenceValue": "b",
			"minCount": 1`, []judge.Ticket{team(2, 2), team(2), team(3)}, true},
		{`["set_intersection(` + all + `)"], "type": "collection", "operation": "contains", "referenceValue": "b",
			"minCount": 1`, []judge.Ticket{team(2, 2), team(1), team(3)}, false},
		{`["set_intersection(` + all + `)"], "type": "collection", "operation": "contains", "referenceValue": "b",
			"maxCount": 0`, []judge.Ticket{team(2, 2), team(1), team(3)}, true},
		{`["set_intersection(` + all + `)"], "type": "collection", "operation": "contains", "referenceValue": "b",
			"maxCount": 0`, []judge.Ticket{team(2, 2), team(2), team(3)}, false},
	} {
		result := trio(t, c.rule)
		m := judge.Match{}
		for i, shape := range []string{"squad_1", "squad_2", "boss"} {
			n := i
			if len(result.Rules.Teams) == 2 { // the squads are two copies of one shape
				n = i / 2
			} else if result.Rules.Teams[i].Name != shape {
				t.Fatalf("%s: the teams are %v", c.rule, result.Rules.Teams)
			}
			m.Teams = append(m.Teams, judge.Team{Shape: n, Tickets: []int{i}})
		}
		if err := judge.Check(result.Rules, c.pool, m); (err == nil) != c.want {
			t.Errorf("%s: %v, want %t", strings.Join(strings.Fields(c.rule), " "), err, c.want)
		}
	}
}

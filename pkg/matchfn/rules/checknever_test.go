package rules_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/rules"
)

// two are two teams of two, with values.
const two = `"values": {"m": "set", "may": {"type": "set", "missing": "any"}}, "teams": [{"name": "a", "copies": 2, "size": 2}]`

// skills are teams of two and of one, with values that all players have, and some that they may have.
const skills = `"numbers": ["s"], "values": {"mode": "string", "any mode": {"type": "string", "from": "mode", "missing": "any"},
	"may": {"type": "number", "from": "s", "missing": "any"}}, "teams": [{"name": "a", "size": 2}, {"name": "b", "size": 1}]`

// many is a condition that never holds where a player has the value.
const many = `"overlap": "m", "with": ["x"], "count": {"min": 2}`

// What holds only of some matches, or only at times, is no reason to refuse a rule set.
func TestWhatSomeMatchSatisfiesIsTaken(t *testing.T) {
	for _, text := range []string{
		two + `, "rules": [{"any": [{` + many + `}, {"share": "m"}]}]`,
		two + `, "rules": [{"one": [{` + many + `}, {"share": "m"}]}]`,
		two + `, "rules": [{"not": {` + many + `}}]`,
		two + `, "rules": [{"any": [{"compare": [1, ">", 2]}, {"share": "m"}]}]`,
		two + `, "rules": [{"any": [{"holders": "m", "of": "x", "count": {"max": -1}}, {"share": "m"}]}]`,
		two + `, "rules": [{` + many + `, "active": {"start": true, "steps": [[10, false]]}}]`,
		two + `, "rules": [{` + many + `, "active": {"start": false, "steps": [[10, true]]}}]`,
		two + `, "prefer": [{"need": {` + many + `}}]`,
		// No player in the match need have the value.
		two + `, "rules": [{"overlap": "may", "with": ["x"], "count": {"min": 2}}]`,
		two + `, "rules": [{"share": "m", "active": -1}]`,
		two + `, "rules": [{"compare": [{"start": 1, "steps": [[9, null]]}, ">", 2]}]`,
		two + `, "rules": [{"compare": [{"over": [1, {"minus": [{"count": "players"}, 4]}]}, "<", 2]}]`,
		two + `, "rules": [{"compare": [{"start": 1, "steps": [[9, 3]]}, ">", 2]}]`,
		two + `, "rules": [{"compare": [{"tickets": "players"}, ">=", 4]}]`,
		two + `, "rules": [{"gap": "tickets", "max": 0}, {"gap": "party", "max": 0}]`,
		two + `, "rules": [{"holders": "m", "of": "x", "count": 4}]`,
		two + `, "rules": [{"share": "m", "min": 256}]`,
		two + `, "rules": [{"share": "m", "min": {"start": 300, "steps": [[60, 1]]}}]`,
		two + `, "rules": [{"share": "may", "min": 300}]`,
		`"values": {"m": {"type": "set", "party": "union"}}, "teams": [{"name": "a", "size": 2}], "rules": [{"share": "m", "min": 400}]`,
		skills + `, "rules": [{"compare": [{"favorite": "s", "beta": 4}, "<=", 0.5]}]`,
		skills + `, "rules": [{"compare": [{"favorite": "may", "beta": 4}, "<", 0.4]}]`,
		skills + `, "rules": [{"compare": [{"favorite": "s", "deviation": "may", "beta": 4}, "<", 0.4]}]`,
		skills + `, "rules": [{"compare": [{"favorite": "s", "beta": 4}, "<", {"start": 0.4, "steps": [[30, null]]}]}]`,
		`"numbers": ["s"], "teams": [{"name": "a", "size": 2}], "rules": [{"compare": [{"quality": "s", "beta": 4}, ">", 2]}]`,
		skills + `, "rules": [{"compare": [{"stddev": "s"}, "<=", 0]}]`,
		skills + `, "rules": [{"compare": [{"max": "s"}, "<=", {"min": "s"}]}]`,
		skills + `, "rules": [{"compare": [{"max": "may"}, "<", {"min": "may"}]}]`,
		skills + `, "rules": [{"compare": [{"max": "s", "in": ["a"]}, "<", {"min": "s", "in": ["b"]}]}]`,
		skills + `, "rules": [{"compare": [{"max": "s", "in": "team"}, "<", {"min": "s", "in": ["b"]}]}]`,
		skills + `, "rules": [{"compare": [{"avg": "s"}, "<", {"median": "s"}]}]`,
		skills + `, "rules": [{"same": "mode", "in": "team"}, {"different": "mode", "in": ["b"]}]`,
		skills + `, "rules": [{"same": "mode"}, {"different": "any mode"}]`,
		skills + `, "rules": [{"same": "mode"}, {"different": "mode", "active": {"start": false, "steps": [[9, true]]}}]`,
		skills + `, "rules": [{"any": [{"same": "mode"}, {"not": {"same": "mode"}}]}]`,
		skills + `, "rules": [{"same": "mode"}, {"not": {"same": "mode", "in": "team"}}]`,
		`"teams": [{"name": "a", "size": 5}, {"name": "b", "size": 1}], "rules": [{"gap": "tickets", "max": 0}]`,
		`"teams": [{"name": "a", "size": 5}, {"name": "b", "size": 1}],
			"rules": [{"gap": "count", "max": {"start": 0, "steps": [[9, null]]}}]`,
		// The sum of both is infinite, and so is a half of it.
		`"teams": [{"name": "a", "copies": 2, "size": 1}],
			"rules": [{"compare": [{"avg": {"times": [{"count": "players", "in": "team"}, 1e308]}}, ">", 1.5e308]}]`,
		// A match may have no team b.
		`"teams": [{"name": "a", "size": 2}, {"name": "b", "copies": {"min": 0, "max": 1}, "size": 1, "roles": {"t": 2}}]`,
		`"teams": [{"name": "a", "size": 2}, {"name": "b", "copies": {"min": 0, "max": 1}, "size": {"min": 2, "max": 1}}]`,
		`"teams": [{"name": "a", "size": 5}, {"name": "b", "copies": {"min": 0, "max": 1}, "size": 1}],
			"rules": [{"gap": "count", "max": 0}]`,
		// There is a time at which min is not above max.
		`"teams": [{"name": "a", "size": {"min": {"start": 5, "steps": [[10, 2]]}, "max": {"start": 3, "steps": [[20, 1]]}}}]`,
		`"teams": [{"name": "a", "size": {"min": {"start": 5, "steps": [[10, 3]], "clock": "newest"},
			"max": {"start": 3, "steps": [[10, 2]]}}}]`,
	} {
		if _, err := rules.Parse([]byte("{" + text + "}")); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What no match satisfies at any time is refused, with the place and the reason.
func TestWhatNoMatchSatisfiesIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		two + `, "rules": [{` + many + `}]`:                                                                                     `rules[0].count: the list has 1 elements: `,
		two + `, "rules": [{` + many + `, "active": {"start": true}}]`:                                                          `rules[0].count: the list has 1 elements: `,
		two + `, "rules": [{"all": [{"share": "m"}, {` + many + `}]}]`:                                                          `rules[0].all[1].count: the list has 1 elements: `,
		two + `, "rules": [{"any": [{` + many + `}, {"compare": [1, ">", 2]}]}]`:                                                `rules[0].any: none of these ever holds; at rules[0].any[0].count the list has 1 elements: `,
		two + `, "rules": [{"one": [{"compare": [1, "<", 2]}, {"not": {` + many + `}}]}]`:                                       `rules[0].one: more than one of these always holds: `,
		two + `, "rules": [{"not": {"compare": [{"count": "players"}, ">=", 1]}}]`:                                              `rules[0].not: this always holds: `,
		two + `, "rules": [{"holders": "m", "of": "x", "count": 5}]`:                                                            `rules[0].count: min is never less than 5, and there are at most 4: `,
		two + `, "rules": [{"holders": "m", "of": "x", "count": {"min": 3}, "in": "team"}]`:                                     `rules[0].count: min is never less than 3, and there are at most 2: `,
		two + `, "rules": [{"holders": "m", "of": "x", "count": {"min": 3}, "in": ["a"]}]`:                                      `rules[0].count: min is never less than 3, and there are at most 2: `,
		two + `, "rules": [{"holders": "m", "of": "x", "count": {"min": 2, "max": 1}}]`:                                         `rules[0].count: min is greater than max, whatever the time: `,
		two + `, "rules": [{"share": "m", "min": 257}]`:                                                                         `rules[0].min: min is never less than 257, and there are at most 256: `,
		two + `, "rules": [{"overlap": "m", "union": "m", "count": {"min": 300}}]`:                                              `rules[0].count: min is never less than 300, and there are at most 256: `,
		skills + `, "rules": [{"share": "mode", "min": 2}]`:                                                                     `rules[0].min: min is never less than 2, and there are at most 1: `,
		skills + `, "rules": [{"compare": [{"favorite": "s", "beta": 4}, "<", 0.4]}]`:                                           `rules[0].compare: a number from 0.5 to 1 is never < 0.4: `,
		skills + `, "rules": [{"compare": [{"quality": "s", "beta": 4}, ">", 1.5]}]`:                                            `rules[0].compare: a number from 0 to 1 is never > 1.5: `,
		skills + `, "rules": [{"not": {"compare": [{"favorite": "may", "beta": 4}, ">=", 0.5]}}]`:                               `rules[0].not: this always holds: `,
		skills + `, "rules": [{"compare": [{"stddev": "s"}, "<", 0]}]`:                                                          `rules[0].compare: a number from 0 up is never < 0: `,
		skills + `, "rules": [{"compare": [{"stddev": "s", "in": "team"}, "<", 0]}]`:                                            `rules[0].compare: a number from 0 up is never < 0: `,
		skills + `, "rules": [{"compare": [{"max": "s"}, "<", {"min": "s"}]}]`:                                                  `rules[0].compare: of the same numbers, max is never < min: `,
		skills + `, "rules": [{"compare": [{"avg": "s", "in": "team"}, ">", {"max": "s", "in": "team"}]}]`:                      `rules[0].compare: of the same numbers, avg is never > max: `,
		skills + `, "rules": [{"compare": [{"median": "s", "in": ["b"]}, "<", {"min": "s", "in": ["b"]}]}]`:                     `rules[0].compare: of the same numbers, median is never < min: `,
		skills + `, "rules": [{"compare": [{"max": {"avg": "s", "in": "team"}}, "<", {"min": {"avg": "s", "in": "team"}}]}]`:    `of the same numbers, max is never < min: `,
		skills + `, "rules": [{"not": {"compare": [{"min": "may"}, "<=", {"max": "may"}]}}]`:                                    `rules[0].not: this always holds: `,
		skills + `, "rules": [{"same": "mode"}, {"different": "mode"}]`:                                                         `rules[1].different: rules[0] says that they are the same: `,
		skills + `, "rules": [{"different": "mode"}, {"same": "mode", "in": "team"}]`:                                           `rules[0].different: rules[1] says that they are the same: `,
		skills + `, "rules": [{"all": [{"same": "s"}, {"all": [{"different": "s", "in": ["a"]}]}]}]`:                            `rules[0].all[1].all[0].different: rules[0].all[0] says that they are the same: `,
		skills + `, "rules": [{"all": [{"same": "mode"}, {"not": {"same": "mode"}}]}]`:                                          `rules[0].all[1].not: rules[0].all[0] says that this holds: `,
		skills + `, "rules": [{"not": {"all": [{"same": "mode"}, {"same": "s"}]}}, {"all": [{"same": "mode"}, {"same": "s"}]}]`: `rules[0].not: rules[1] says that this holds: `,
		skills + `, "rules": [{"any": [{"all": [{"same": "mode"}, {"not": {"same": "mode"}}]}]}]`:                               `rules[0].any[0].all[1].not: rules[0].any[0].all[0] says that this holds: `,
		two + `, "rules": [{"compare": [{"count": "players"}, "=", 10]}]`:                                                       `rules[0].compare: 4 is never = 10: `,
		two + `, "rules": [{"compare": [1, ">", 2]}]`:                                                                           `rules[0].compare: 1 is never > 2: `,
		two + `, "rules": [{"compare": [{"start": 1, "steps": [[9, 2]]}, ">", 2]}]`:                                             `rules[0].compare: a number from 1 to 2 is never > 2: `,
		two + `, "rules": [{"compare": [{"tickets": "players"}, ">=", 5]}]`:                                                     `rules[0].compare: a number from 2 to 4 is never >= 5: `,
		two + `, "rules": [{"compare": [{"party": "players"}, ">=", 3]}]`:                                                       `rules[0].compare: a number from 1 to 2 is never >= 3: `,
		two + `, "rules": [{"compare": [{"count": {"count": "players", "in": "team"}}, "!=", 2]}]`:                              `rules[0].compare: 2 is never != 2: `,
		two + `, "rules": [{"compare": [{"times": [{"sum": {"count": "players", "in": "team"}}, 2]}, "<", 7]}]`:                 ` is never < 7: `,
		two + `, "rules": [{"compare": [{"abs": {"minus": [{"count": "m"}, 9]}}, "<", 5]}]`:                                     `rules[0].compare: a number from 5 to 9 is never < 5: `,
		`"teams": [{"name": "a", "size": 5}, {"name": "b", "size": 1}], "rules": [{"gap": "count", "max": 0}]`:                  `rules[0].max: the sizes of the teams differ by at least 4, and at most 0 is allowed: `,
		`"teams": [{"name": "a", "size": {"min": {"start": 5, "steps": [[10, 3]]},
			"max": {"start": 3, "steps": [[10, 2]]}}}]`: `teams[0].size: min is greater than max, whatever the time: `,
		`"teams": [{"name": "a", "copies": {"min": 0, "max": 1}, "size": {"min": 2, "max": {"start": 1, "grow": -1, "until": 0}}}],
			"players": {"min": 1, "max": 0}`: `players: min is greater than max, whatever the time: `,
		`"values": {"m": "set"}, "teams": [{"name": "a", "copies": {"min": 0, "max": 2}, "size": {"min": 0, "max": 2}}],
			"rules": [{"holders": "m", "of": "x", "count": 3, "in": "team"}]`: `rules[0].count: min is never less than 3, and`,
		`"teams": [{"name": "a", "size": {"min": 1, "max": 4}}], "players": {"max": 2},
			"rules": [{"compare": [{"count": "players"}, ">", 2]}]`: `rules[0].compare: a number from 1 to 2 is never > 2: `,
	} {
		_, err := rules.Parse([]byte("{" + text + "}"))
		if err == nil || !strings.HasSuffix(err.Error(), "nothing can match") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, and should have %s", text, err, want)
		}
	}
}

// Conditions in conditions take as many steps as there are, not twice as many at each depth.
func TestTheCheckOfNestedRulesIsFast(t *testing.T) {
	for _, kind := range []string{"one", "any", "all", "not"} {
		need, begin, end := `{"spread": "s", "max": 1}`, `{"`+kind+`": [`, `, {"gap": "s", "max": 1}]}`
		if kind == "not" {
			begin, end = `{"not": {"one": [`, `]}}`
		}
		depth := 30 / (strings.Count(begin, "{") + strings.Count(begin, "["))
		need = strings.Repeat(begin, depth-1) + need + strings.Repeat(end, depth-1)
		r, err := rules.Parse([]byte(`{"numbers": ["s"], "teams": [{"name": "a", "copies": 2, "size": 2}], "rules": [` + need + `]}`))
		if err != nil {
			t.Fatal(kind, err)
		}
		if steps := rules.Steps(r); steps < depth || steps > 4000 {
			t.Errorf("%s: the check takes %d steps", kind, steps)
		}
	}
}

// A check ends that would take very many steps. What it did not look at is not refused.
func TestTheCheckEnds(t *testing.T) {
	var all []string
	for range 9 {
		var some []string
		for i := range 90 {
			some = append(some, fmt.Sprintf(`{"same": "m%d"}, {"different": "m%d"}`, i%20, 20+i%20))
		}
		all = append(all, `{"all": [`+strings.Join(some, ",")+`]}`)
	}
	values := []string{}
	for i := range 40 {
		values = append(values, fmt.Sprintf(`"m%d": "string"`, i))
	}
	var teams []string
	for i := range 100 {
		teams = append(teams, fmt.Sprintf(`{"name": "t%d", "size": 1}`, i))
	}
	need := strings.Repeat(`{"all": [`, 8) + strings.Join(all, ",") + strings.Repeat(`]}`, 8)
	r, err := rules.Parse([]byte(`{"values": {` + strings.Join(values, ",") + `}, "teams": [` + strings.Join(teams, ",") +
		`], "rules": [` + need + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	if steps := rules.Steps(r); steps > rules.MaxCheckSteps+1_000_000 {
		t.Errorf("the check takes %d steps", steps)
	}
}

// The check of a large rule set takes no longer than the work of a config's upload may: it is linear.
func TestTheCheckOfManyRulesIsFast(t *testing.T) {
	sizes := func(n int) string {
		at := make([]string, rules.MaxSteps)
		for i := range at {
			at[i] = fmt.Sprintf("[%d,%d]", i+1, n)
		}
		return fmt.Sprintf(`{"start": %d, "steps": [%s]}`, n, strings.Join(at, ","))
	}
	var teams, names, all []string
	for i := range rules.MaxTeams {
		teams = append(teams, fmt.Sprintf(`{"name": "t%d", "size": 5}`, i))
		names = append(names, fmt.Sprintf(`"t%d"`, i))
	}
	for range rules.MaxRules {
		in := `"in": [` + strings.Join(names, ",") + `]`
		all = append(all, `{"any": [{"holders": "m", "of": "x", `+in+`, "count": {"min": `+sizes(6)+`, "max": `+sizes(5)+`}},
			{"compare": [{"max": {"count": "players", `+in+`}}, "<", 6]}]}`)
	}
	text := fmt.Sprintf(`{"values": {"m": "set"}, "teams": [%s], "rules": [%s]}`, strings.Join(teams, ","), strings.Join(all, ","))
	took := time.Hour
	for tries := 3; tries > 0 && took > 10*time.Second; tries-- { // the machine may stand still
		begun := time.Now()
		if _, err := rules.Parse([]byte(text)); err != nil {
			t.Error(err)
		}
		took = time.Since(begun)
	}
	if took > 10*time.Second {
		t.Errorf("it takes %v", took)
	}
}

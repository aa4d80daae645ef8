package dialects_test

import (
	"fmt"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// lineOf returns the verdict on a rule of a file.
func lineOf(t *testing.T, result *translation.Translation, name string) translation.Line {
	t.Helper()
	for _, l := range result.Lines {
		if l.Name == name {
			return l
		}
	}
	t.Fatalf("there is no verdict on %q: %v", name, result.Lines)
	return translation.Line{}
}

// unityDuel is a queue of Unity for one against one.
func unityDuel(t *testing.T, matchRules string) *translation.Translation {
	t.Helper()
	result, err := dialects.Import(dialects.Unity, []byte(`{"matchDefinition": {"teams": [{"name": "t",
		"teamCount": {"min": 2, "max": 2}, "playerCount": {"min": 1, "max": 1}}],
		"matchRules": [`+matchRules+`]}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// pair is a match of two tickets.
func pair(ages [2]float64, a, b judge.Player) []judge.Ticket {
	return []judge.Ticket{{Age: ages[0], Players: []judge.Player{a}}, {Age: ages[1], Players: []judge.Player{b}}}
}

func matches(result *translation.Translation, pool []judge.Ticket) bool {
	_, found := judge.Any(result.Rules, pool)
	return found
}

// Unity compares strings and numbers. A file that does not say which they are is not translated exactly.
func TestUnityKindsThatAreGuessedAreSaid(t *testing.T) {
	rule := `{"name": "%s", "type": "%s", "source": "Players.ExternalData.CloudSave.x"%s}`
	saved := `, "externalData": {"cloudSave": {"default": %s}}`
	for _, c := range []struct {
		rules   string
		verdict translation.Verdict
		x       any // what players that match have
	}{
		{fmt.Sprintf(rule, "r", "Equality", ""), translation.Stricter, "a"},
		{fmt.Sprintf(rule, "r", "Equality", fmt.Sprintf(saved, `"z"`)), translation.Exact, "a"},
		{fmt.Sprintf(rule, "r", "Equality", fmt.Sprintf(saved, `0`)), translation.Exact, 3.0},
		{fmt.Sprintf(rule, "r", "Equality", "") + "," + fmt.Sprintf(rule, "s", "Equality", fmt.Sprintf(saved, `0`)),
			translation.Exact, 3.0},
		{fmt.Sprintf(rule, "r", "Equality", "") + "," + fmt.Sprintf(rule, "s", "InList", `, "reference": ["a"]`),
			translation.Exact, "a"},
		{fmt.Sprintf(rule, "r", "Equality", "") + "," + fmt.Sprintf(rule, "s", "Difference", `, "reference": 1`),
			translation.Exact, 3.0},
	} {
		result := unityDuel(t, c.rules)
		l := lineOf(t, result, "r")
		said := strings.Contains(l.Why, "its values are taken as strings; players with numbers count as missing")
		if l.Verdict != c.verdict || said != (c.verdict == translation.Stricter) {
			t.Errorf("%s: %s", c.rules, l)
		}
		if !matches(result, pair([2]float64{}, judge.Player{"x": c.x}, judge.Player{"x": c.x})) {
			t.Errorf("%s: players with %v do not match", c.rules, c.x)
		}
	}
	l := lineOf(t, unityDuel(t, fmt.Sprintf(rule, "r", "Intersection", `, "overlap": 1`)), "r")
	if l.Verdict != translation.Stricter || !strings.Contains(l.Why, "lists of numbers count as missing") {
		t.Error(l)
	}
}

// A player without a value is in no match in any case. Where Unity does not always look at it, that is stricter.
func TestUnityValuesThatAreNotAlwaysNeeded(t *testing.T) {
	rule := func(source, more string) string {
		return fmt.Sprintf(`{"name": "r", "type": "LessThan", "source": "Players.%s", "reference": 9%s}`, source, more)
	}
	const skill, file = "CustomData.skill", `{"matchDefinition": {"teams": [
		{"name": "a", "playerCount": {"min": 1, "max": 1}, "teamRules": [%s]},
		{"name": "b", "playerCount": {"min": 1, "max": 1}, "teamRules": [%s]}], "matchRules": [%s]}}`
	const later = `, "enableRule": false, "relaxations": [{"type": "RuleControl.Enable", "atSeconds": 9}]`
	for want, c := range map[translation.Verdict][][3]string{
		translation.Exact: {
			{"", "", rule(skill, "")}, {rule(skill, ""), rule(skill, ""), ""}, {rule(skill, ""), "", rule(skill, "")},
			{"", "", rule("ExternalData.CloudSave.skill", `, "externalData": {"cloudSave": {"default": 3}}`+later)},
		},
		translation.Stricter: {
			{"", "", rule(skill, later)}, {rule(skill, ""), "", ""}, {rule(skill, ""), rule(skill, later), ""},
			{"", "", rule("QosResults.Latency", later)},
		},
	} {
		for _, of := range c {
			result, err := dialects.Import(dialects.Unity, fmt.Appendf(nil, file, of[0], of[1], of[2]), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range result.Lines {
				if l.Name == "r" && l.Verdict != want {
					t.Errorf("%q: %s", of, l)
				}
			}
		}
	}
}

// A rule's reference may follow another age than what enables it. Of one kind all relaxations follow the same age.
func TestUnityRelaxationsHaveAnAgeForEachKind(t *testing.T) {
	const rule = `{"name": "r", "type": "Difference", "source": "Players.CustomData.skill", "reference": 100,
		"relaxations": [%s]}`
	const replace = `{"type": "ReferenceControl.Replace", "value": 300, "atSeconds": 10}`
	result := unityDuel(t, fmt.Sprintf(rule, replace+`, {"type": "RuleControl.Disable", "ageType": "Youngest", "atSeconds": 45}`))
	l := lineOf(t, result, "r")
	if l.Verdict != translation.Stricter || !strings.HasPrefix(l.Why, "a player without the value") {
		t.Fatal(l)
	}
	for _, c := range []struct {
		ages [2]float64
		gap  float64
		want bool
	}{
		{[2]float64{9, 1}, 200, false},
		{[2]float64{10, 1}, 200, true}, // by the oldest, which is Unity's default
		{[2]float64{90, 44}, 400, false},
		{[2]float64{90, 45}, 400, true}, // by the youngest
	} {
		pool := pair(c.ages, judge.Player{"skill": 0.0}, judge.Player{"skill": c.gap})
		if got := matches(result, pool); got != c.want {
			t.Errorf("%v, %v apart: they match: %t", c.ages, c.gap, got)
		}
	}
	for name, relaxations := range map[string]string{
		"reference": replace + `, {"type": "ReferenceControl.Replace", "ageType": "Average", "value": 9, "atSeconds": 20}`,
		"control": `{"type": "RuleControl.Disable", "atSeconds": 5},
			{"type": "RuleControl.Enable", "ageType": "Average", "atSeconds": 20}`,
	} {
		result := unityDuel(t, fmt.Sprintf(rule, relaxations)+`, {"name": "other", "type": "Difference",
			"source": "Players.CustomData.skill", "reference": 5}`)
		l := lineOf(t, result, "r")
		want := "matchRules[0].relaxations[1]: has the ageType Average, and another relaxation of its kind Oldest"
		if l.Verdict != translation.Refused || !strings.Contains(l.Why, want) || len(result.Rules.Rules) != 1 {
			t.Errorf("%s: %s", name, l)
		}
	}
	l = lineOf(t, unityDuel(t, `{"name": "r", "type": "Equality", "source": "Players.CustomData.x", "relaxations": [
		{"type": "ReferenceControl.Replace", "value": "a", "atSeconds": 10}]}`), "r")
	if l.Verdict != translation.Refused || !strings.Contains(l.Why, "replaces its reference, and it has none") {
		t.Error(l)
	}
}

// The default of a list is a list. What players without it have counts in matches.
func TestUnityListsHaveDefaults(t *testing.T) {
	const rule = `{"name": "r", "type": "Intersection", "source": "Players.ExternalData.CloudSave.maps", "overlap": 1,
		"externalData": {"cloudSave": {"default": %s}}}`
	for fallback, want := range map[string]bool{`["a", "a", "b"]`: true, `"a"`: true, `["b"]`: false, `[]`: false} {
		result := unityDuel(t, fmt.Sprintf(rule, fallback))
		if l := lineOf(t, result, "r"); l.Verdict != translation.Exact && fallback != "[]" {
			t.Errorf("%s: %s", fallback, l)
		}
		try(t, result, nil)
		pool := pair([2]float64{}, judge.Player{"maps": []string{"a"}}, judge.Player{})
		if got := matches(result, pool); got != want {
			t.Errorf("%s: a player without maps matches one with a: %t", fallback, got)
		}
	}
}

// What our rules cannot say is refused with its place, and leaves the others.
func TestUnityTextsAreRefusedWithThePlace(t *testing.T) {
	const saved = `"Intersection", "overlap": 1, "externalData": {"cloudSave": {"default": %s}}`
	bytes := "a string of 1 to 256 bytes is expected, not one of "
	for _, c := range []struct{ rule, want string }{
		{`"Equality", "reference": ""`, "line 4, column 37: matchDefinition.matchRules[0].reference: " + bytes + "0"},
		{`"Equality", "reference": "` + strings.Repeat("x", 257) + `"`, "matchRules[0].reference: " + bytes + "257"},
		{`"InList", "reference": ["a", ""]`, "matchRules[0].reference[1]: " + bytes + "0"},
		{`"InList", "reference": ["a", 1]`, "matchRules[0].reference[1]: a string is expected, not a number"},
		{`"InList", "reference": []`, "matchRules[0].reference: has no elements"},
		{`"Equality", "externalData": {"cloudSave": {"default": ""}}`, "cloudSave.default: " + bytes + "0"},
		{fmt.Sprintf(saved, `["a", ""]`), "cloudSave.default[1]: " + bytes + "0"},
		{fmt.Sprintf(saved, `["a", 1]`), "cloudSave.default[1]: a string is expected, not a number"},
		{fmt.Sprintf(saved, "["+strings.Repeat(`"a",`, 256)+`"a"]`), "cloudSave.default: has 257 elements"},
		{`"LessThan", "reference": 1, "externalData": {"cloudSave": {"default": "a"}}`,
			`cloudSave.default: a number is expected, not "a"`},
	} {
		result := unityDuel(t, `{"name": "r", "source": "Players.ExternalData.CloudSave.x",
			"type": `+c.rule+`}, {"name": "other", "type": "Equality", "source": "Players.CustomData.y"}`)
		l := lineOf(t, result, "r")
		if l.Verdict != translation.Refused || !strings.Contains(l.Why, c.want) || len(result.Rules.Rules) != 1 {
			t.Errorf("%s: %s, want %s", c.rule, l, c.want)
		}
		try(t, result, nil)
	}
}

// Rules of Unity's documentation have no names.
func TestUnityRulesNeedNoNames(t *testing.T) {
	result := unityDuel(t, `{"Type": "Difference", "Source": "Players.CustomData.skill", "Reference": 100},
		{"Type": "Equality", "Source": "Players.CustomData.map", "Reference": "arena"}`)
	for i, name := range []string{"Difference", "Equality"} {
		if l := lineOf(t, result, name); l.Verdict != translation.Exact || result.Rules.Rules[i].Name != name {
			t.Error(l)
		}
	}
}

// Rules that relax by the age of a team or a ticket are not translated as if the match's age did it.
func TestUnityAgesAreThoseOfTheMatch(t *testing.T) {
	const rule = `{"name": "r", "type": "Difference", "source": "Players.CustomData.skill", "reference": 1,
		"relaxations": [{"type": "ReferenceControl.Replace", "atSeconds": 9, "value": 5%s}]}`
	for scope, want := range map[string]translation.Verdict{
		"": translation.Exact, `, "ageScope": "match"`: translation.Exact, `, "AgeScope": null`: translation.Exact,
		`, "ageScope": "Team"`: translation.Refused, `, "AgeScope": "Ticket"`: translation.Refused,
	} {
		if l := lineOf(t, unityDuel(t, fmt.Sprintf(rule, scope)), "r"); l.Verdict != want {
			t.Errorf("%q: %s", scope, l)
		}
	}
	_, err := dialects.Import(dialects.Unity, []byte(`{"matchDefinition": {"teams": [{"name": "t", "playerCount": {"min": 2,
		"max": 4, "relaxations": [{"type": "RangeControl.ReplaceMin", "atSeconds": 1, "value": 1, "ageScope": "Team"}]}}]}}`), "")
	if err == nil || !strings.Contains(err.Error(), "has the ageScope Team") {
		t.Error(err)
	}
}

// A queue as the service keeps it has members that say nothing about matches.
func TestUnityQueueOfTheService(t *testing.T) {
	const kept = `"id": "1", "projectId": "p", "environmentId": "e", "createdAt": "2026-01-01", "updatedAt": null, "enabled": true, `
	logic := `{"matchDefinition": {"teams": [{"name": "t", "teamCount": {"min": 2, "max": 2},
		"playerCount": {"min": 1, "max": 1}}]}}`
	result, err := dialects.Import(dialects.Unity, []byte(`{"queues": [{`+kept+`"name": "q", "maxPlayersPerTicket": 1,
		"defaultPool": {`+kept+`"name": "p", "matchLogic": `+logic+`}, "filteredPools": null}]}`), "")
	if err != nil || len(result.Rules.Teams) != 1 {
		t.Error(result, err)
	}
}

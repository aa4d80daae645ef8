package dialects_test

import (
	"fmt"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// twoOf is a queue of PlayFab for two players.
func twoOf(t *testing.T, rules string) *translation.Translation {
	t.Helper()
	result, err := dialects.Import(dialects.PlayFab, []byte(`{"MinMatchSize": 2, "MaxMatchSize": 2, "Rules": [`+rules+`]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// A rule that is optional after some seconds counts until all tickets of a match have waited so long.
func TestPlayFabTotalIsOptionalForTicketsThatHaveAllWaited(t *testing.T) {
	const rule = `{"Type": "MatchTotalRule", "Name": "r", "Attribute": {"Path": "host"}, "DefaultAttributeValue": 0,
		"Min": 1, "Max": 1, "SecondsUntilOptional": 30%s}`
	const wider = `, "Expansion": {"MinOverrides": [1, 0], "MaxOverrides": [1, 2], "SecondsBetweenExpansions": 10}`
	for _, c := range []struct {
		expansion string
		ages      [2]float64
		a, b      float64
		want      bool
	}{
		{"", [2]float64{90, 1}, 0, 0, false},
		{"", [2]float64{90, 1}, 0, 1, true},
		{"", [2]float64{90, 29}, 1, 1, false},
		{"", [2]float64{90, 30}, 0, 0, true},
		{"", [2]float64{90, 30}, 5, 5, true},
		{wider, [2]float64{9, 9}, 1, 1, false},
		{wider, [2]float64{10, 1}, 1, 1, true},
		{wider, [2]float64{90, 1}, 2, 1, false}, // it still counts, with the limits of 10 seconds
		{wider, [2]float64{90, 30}, 2, 1, true},
	} {
		result := twoOf(t, fmt.Sprintf(rule, c.expansion))
		pool := pair(c.ages, judge.Player{"host": c.a}, judge.Player{"host": c.b})
		if got := matches(result, pool); got != c.want {
			t.Errorf("%s, %v: the hosts %v and %v match: %t", c.expansion, c.ages, c.a, c.b, got)
		}
		l := lineOf(t, result, "r")
		if l.Verdict != translation.Exact || !strings.Contains(l.Why, "have all waited so long") {
			t.Error(l)
		}
	}
}

// Our matches have a region of which all have a latency, also where the limit does not count.
func TestPlayFabRegionsThatAreOptionalAreStricter(t *testing.T) {
	const rule = `{"Type": "RegionSelectionRule", "Name": "r", "Path": "Latencies", "MaxLatency": 100%s}`
	const steps = `, "Expansion": {"MaxLatencyOverrides": [100, %s], "SecondsBetweenExpansions": 9}`
	for extra, verdict := range map[string]translation.Verdict{
		"": translation.Exact, fmt.Sprintf(steps, "200"): translation.Exact,
		`, "SecondsUntilOptional": 60`: translation.Stricter, fmt.Sprintf(steps, "null"): translation.Stricter,
	} {
		result := twoOf(t, fmt.Sprintf(rule, extra))
		l := lineOf(t, result, "r")
		said := strings.Contains(l.Why, "the match still needs a region of which all have a latency")
		if l.Verdict != verdict || said != (verdict == translation.Stricter) {
			t.Errorf("%s: %s", extra, l)
		}
		east, west := map[string]float64{"east": 20}, map[string]float64{"west": 20}
		old := [2]float64{99, 99}
		if matches(result, pair(old, judge.Player{"Latencies": east}, judge.Player{"Latencies": west})) {
			t.Errorf("%s: tickets without a common region match", extra)
		}
	}
	near := judge.Player{"Latencies": map[string]float64{"east": 20}}
	dollar := strings.Replace(fmt.Sprintf(rule, ""), `"Latencies"`, `"$.Latencies"`, 1)
	if !matches(twoOf(t, dollar), pair([2]float64{0, 0}, near, near)) {
		t.Error("a path from the root is another attribute")
	}
}

// An attribute of the ticket and one of the player's entity are two, also where they have the same name.
func TestPlayFabAttributesOfTheEntityAreNotThoseOfTheTicket(t *testing.T) {
	rule := func(name, path, source string, difference int) string {
		return fmt.Sprintf(`{"Type": "DifferenceRule", "Name": %q, "Attribute": {"Path": %q, "Source": %q}, "Difference": %d}`,
			name, path, source, difference)
	}
	result := twoOf(t, rule("a", "skill", "User", 5)+","+rule("b", "$.skill", "PlayerEntity", 50)+","+
		rule("c", "$.rank", "PlayerEntity", 9)+","+rule("d", "PlayerEntity.skill", "User", 9))
	try(t, result, nil)
	const name = "PlayerEntity.PlayerEntity.skill"
	for rule, want := range map[string]string{"b": fmt.Sprintf("its name is %q, as tickets have another \"skill\"", name),
		"c": "it is not read from the player's entity"} {
		if l := lineOf(t, result, rule); !strings.HasSuffix(l.Why, want) {
			t.Error(l)
		}
	}
	player := func(skill, entity float64) judge.Player {
		return judge.Player{"skill": skill, name: entity, "rank": 1.0, "PlayerEntity.skill": 1.0}
	}
	for _, c := range []struct {
		skill, entity float64
		want          bool
	}{{4, 40, true}, {6, 6, false}, {4, 60, false}} {
		if got := matches(result, pair([2]float64{}, player(0, 0), player(c.skill, c.entity))); got != c.want {
			t.Errorf("%v and %v apart: they match: %t", c.skill, c.entity, got)
		}
	}
}

// The documentation shows queues as a member without braces. Comments may be before it.
func TestPlayFabQueueWithoutBracesMayHaveComments(t *testing.T) {
	const member = `"MatchmakingQueue": {"MinMatchSize": 2, "MaxMatchSize": 2%s}`
	for _, before := range []string{"", "// our queue\n", "\ufeff", "\ufeff /* our\nqueue */ // one\n\n"} {
		if _, err := dialects.Import(dialects.PlayFab, []byte(before+fmt.Sprintf(member, "")), ""); err != nil {
			t.Errorf("%q: %v", before, err)
		}
		_, err := dialects.Import(dialects.PlayFab, []byte(before+"\n"+fmt.Sprintf(member, `, "x": 1`)), "")
		want := fmt.Sprintf("line %d, ", strings.Count(before, "\n")+2)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", before, err, want)
		}
	}
}

func TestPlayFabEqualityThatBecomesTighterIsRefusedForThat(t *testing.T) {
	const rule = `{"Type": "StringEqualityRule", "Name": "r", "Attribute": {"Path": "build"},
		"Expansion": {"EnabledOverrides": [%s], "SecondsBetweenExpansions": 10}}`
	for enabled, want := range map[string]string{
		"false, true": "it is enabled after it was not", "true, false, true": "it is enabled after it was not",
		"false, false": "it is never enabled",
	} {
		l := lineOf(t, twoOf(t, fmt.Sprintf(rule, enabled)), "r")
		if l.Verdict != translation.Refused || !strings.HasPrefix(l.Why, want) {
			t.Errorf("%s: %s", enabled, l)
		}
	}
}

// A rule that is optional from the beginning restricts nothing. Most of them still sort.
func TestPlayFabRulesThatAreOptionalFromTheBeginning(t *testing.T) {
	for rule, preferences := range map[string]int{
		`"DifferenceRule", "Difference": 1`: 1, `"StringEqualityRule"`: 1, `"MatchTotalRule", "Min": 1, "Max": 1`: 1,
		`"SetIntersectionRule", "MinIntersectionSize": 1`: 9, `"RegionSelectionRule", "Path": "x", "MaxLatency": 9`: 0,
		`"TeamTicketSizeSimilarityRule"`: 0, `"DifferenceRule", "Difference": 1, "Weight": 0`: 0,
	} {
		if !strings.Contains(rule, "Region") && !strings.Contains(rule, "Team") {
			rule += `, "Attribute": {"Path": "x"}`
		}
		result := twoOf(t, `{"Name": "r", "SecondsUntilOptional": 0, "Type": `+rule+`}`)
		try(t, result, nil)
		l := lineOf(t, result, "r")
		if l.Verdict != translation.Exact || len(result.Rules.Rules) != 1 || len(result.Rules.Prefer) != preferences {
			t.Errorf("%s: %s, %d preferences", rule, l, len(result.Rules.Prefer))
		}
		if !matches(result, pair([2]float64{}, judge.Player{}, judge.Player{})) {
			t.Errorf("%s: it refuses players", rule)
		}
	}
}

// Two rules about one attribute have each their own default, also where the lists look alike.
func TestPlayFabRulesKeepTheirDefaults(t *testing.T) {
	const rule = `{"Type": "SetIntersectionRule", "Name": %q, "Attribute": {"Path": "modes"}, "DefaultAttributeValue": %s,
		"MinIntersectionSize": %d}`
	result := twoOf(t, fmt.Sprintf(rule, "one", `["a b"]`, 1)+","+fmt.Sprintf(rule, "two", `["a", "b"]`, 2))
	if !matches(result, pair([2]float64{}, judge.Player{}, judge.Player{})) {
		t.Error("players with the defaults do not match")
	}
}

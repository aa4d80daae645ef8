package dialects_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// accelByteDuel reads a ruleset of AccelByte for one against one with more members.
func accelByteDuel(t *testing.T, more string) *translation.Translation {
	t.Helper()
	got, err := dialects.Import(dialects.AccelByte, []byte(`{"alliance": {"min_number": 2, "max_number": 2,
		"player_min_number": 1, "player_max_number": 1}, `+more+`}`), "")
	if err != nil {
		t.Fatal(err)
	}
	try(t, got, nil)
	return got
}

// match reports whether tickets of one player each match.
func match(got *translation.Translation, players ...judge.Player) bool {
	var pool []judge.Ticket
	for _, p := range players {
		pool = append(pool, judge.Ticket{Players: []judge.Player{p}})
	}
	_, found := judge.Any(got.Rules, pool)
	return found
}

// said returns the verdict that has a text.
func said(t *testing.T, got *translation.Translation, text string) translation.Verdict {
	t.Helper()
	for _, l := range got.Lines {
		if strings.Contains(l.String(), text) {
			return l.Verdict
		}
	}
	t.Errorf("%q is not said: %v", text, got.Lines)
	return ""
}

// A value of another kind than ours is no reason to match: the player may want to be with others.
func TestOptionsOfAccelByteAreNotLooser(t *testing.T) {
	for _, c := range []struct {
		kind string
		a, b any
		want bool
	}{
		{"all", "STEAM", "STEAM", true},
		{"all", "STEAM", "PSN", false},
		{"all", []string{"STEAM"}, []string{"PSN"}, false},
		{"all", []string{"STEAM"}, []string{"STEAM"}, false},
		{"all", 1.0, 2.0, false},
		{"all", nil, nil, false},
		{"any", []string{"a", "b"}, []string{"b", "c"}, true},
		{"any", []string{"a"}, []string{"b"}, false},
		{"any", "a", "b", false},
		{"any", 1.0, 2.0, false},
		{"any", nil, []string{"b"}, false},
	} {
		got := accelByteDuel(t, fmt.Sprintf(`"match_options": {"options": [{"name": "map", "type": %q}]}`, c.kind))
		if v := said(t, got, "clients must send"); v != translation.Stricter {
			t.Errorf("%s is %s", c.kind, v)
		}
		if found := match(got, judge.Player{"map": c.a}, judge.Player{"map": c.b}); found != c.want {
			t.Errorf("%s of %v and %v: match %v, want %v", c.kind, c.a, c.b, found, c.want)
		}
	}
}

// All tickets of a match have a value in common, not only each with the oldest.
func TestAnyOfAccelByteIsCommonToAll(t *testing.T) {
	got, err := dialects.Import(dialects.AccelByte, []byte(`{"alliance": {"min_number": 3, "max_number": 3,
		"player_min_number": 1, "player_max_number": 1}, "match_options": {"options": [{"name": "map", "type": "any"}]}}`), "")
	if err != nil {
		t.Fatal(err)
	}
	a, b, both := judge.Player{"map": []string{"a"}}, judge.Player{"map": []string{"b"}}, []string{"a", "b"}
	if match(got, judge.Player{"map": both}, a, b) {
		t.Error("two that share no value are in a match")
	}
	if !match(got, judge.Player{"map": both}, a, a) {
		t.Error("three that share a value do not match")
	}
}

func TestCrossPlayOfAccelByteIsWantedByBoth(t *testing.T) {
	got := accelByteDuel(t, `"match_options": {"options": [{"name": "cross_platform", "type": "any"}]},
		"match_options_referred_for_backfill": true`)
	on := func(current any, wanted ...string) judge.Player {
		return judge.Player{"current_platform": current, "cross_platform": wanted}
	}
	for _, c := range []struct {
		a, b judge.Player
		want bool
	}{
		{on("PC", "PC", "PSN"), on("PSN", "PC", "PSN"), true},
		{on("PC", "PC", "PSN"), on("PSN", "PSN"), false},
		{on("PC", "PC", "XBOX"), on("PSN", "PC", "PSN", "XBOX"), false},
		{on(nil, "PC"), on(nil, "PC"), false},
	} {
		if found := match(got, c.a, c.b); found != c.want {
			t.Errorf("%v and %v: match %v, want %v", c.a, c.b, found, c.want)
		}
	}
	if v := said(t, got, "is one that all players want"); v != translation.Stricter {
		t.Errorf("cross play is %s", v)
	}
	said(t, got, "looser: AccelByte asks that server_name and client_version of parties are equal")
	said(t, got, "note: AccelByte compares no other attributes than server_name and client_version")
	said(t, accelByteDuel(t, `"match_options_referred_for_backfill": false`), "note: AccelByte compares all other attributes, too")
}

// AccelByte's limits of 0 are as good as none.
func TestRegionsOfAccelByteThatAreZero(t *testing.T) {
	zero := accelByteDuel(t, `"region_expansion_rate_ms": 0, "region_expansion_range_ms": 0, "region_latency_initial_range_ms": 0,
		"region_latency_max_ms": 0, "disable_bidirectional_latency_after_ms": 0`)
	if !match(zero, judge.Player{}, judge.Player{}) {
		t.Error("nobody matches")
	}
	if v := said(t, zero, "the file limits no latency"); v != translation.Looser {
		t.Errorf("no limit is %s", v)
	}
	got := accelByteDuel(t, `"region_latency_max_ms": 200, "region_latency_initial_range_ms": 0,
		"region_expansion_rate_ms": 0, "disable_bidirectional_latency_after_ms": 0`)
	if v := said(t, got, "a ticket without one is in no match"); v != translation.Stricter {
		t.Errorf("a limit is %s", v)
	}
	player := func(near, far float64) judge.Player {
		return judge.Player{"latency": map[string]float64{"near": near, "far": far}}
	}
	at := func(age float64, far float64) bool {
		pool := []judge.Ticket{{Age: age, Players: []judge.Player{player(20, far)}}, {Age: age, Players: []judge.Player{
			{"latency": map[string]float64{"far": 20}}}}}
		_, found := judge.Any(got.Rules, pool)
		return found
	}
	for _, c := range []struct {
		age, far float64
		want     bool
	}{{1, 20, true}, {1, 60, false}, {6, 60, true}, {6, 80, false}, {11, 80, true}, {999, 201, false}} {
		if found := at(c.age, c.far); found != c.want {
			t.Errorf("after %v s and with %v ms: match %v, want %v", c.age, c.far, found, c.want)
		}
	}
}

// A vendor's example has the matching rules in the alliance.
func TestMatchingRulesOfAccelByte(t *testing.T) {
	got, err := dialects.Import(dialects.AccelByte, []byte(`{"alliance": {"min_number": 2, "max_number": 2,
		"player_min_number": 1, "player_max_number": 1,
		"matching_rule": [{"attribute": "mmr", "criteria": "distance", "reference": 100}]},
		"flexing_rule": [{"duration": 20, "attribute": "mmr", "criteria": "distance", "reference": 150}]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	try(t, got, nil)
	said(t, got, "alliance.matching_rule[0] \"mmr\": note: it is within the alliance")
	if match(got, judge.Player{"mmr": 100.0}, judge.Player{"mmr": 220.0}) {
		t.Error("the rule in the alliance says nothing")
	}
	for _, criteria := range []string{"average", "smaller", "greater"} {
		got = accelByteDuel(t, fmt.Sprintf(`"matching_rule": [{"attribute": "mmr", "criteria": %q, "reference": 100}],
			"flexing_rule": [{"attribute": "mmr", "criteria": %[1]q, "reference": 200, "duration": 9}]`, criteria))
		if v := said(t, got, criteria+" refuses nobody"); v != translation.Exact {
			t.Errorf("%s is %s", criteria, v)
		}
		if !match(got, judge.Player{}, judge.Player{"mmr": 900.0}) {
			t.Errorf("%s refuses players", criteria)
		}
	}
}

// Teams are balanced by the rules that say so; if none says anything, by the first of a distance. What a gap is a part
// of is the greatest reference of the rule, or of any flexing rule.
func TestBalanceAndScaleOfAccelByte(t *testing.T) {
	const rules = `"matching_rule": [{"attribute": "a", "criteria": "average", "reference": 1},
		{"attribute": "b", "criteria": "distance", "reference": 10%s},
		{"attribute": "c", "criteria": "distance", "reference": 20%s, "weight": 3}],
		"flexing_rule": [{"attribute": "b", "duration": 9, "reference": 50}]`
	for _, c := range []struct{ b, c, want string }{
		{"", "", "near in b 1/50, balanced b 1/50, near in c 3/50"},
		{"", `, "isForBalancing": true`, "near in b 1/50, near in c 3/50, balanced c 1/50"},
		{`, "isForBalancing": false`, "", "near in b 1/50, near in c 3/50"},
		{`, "normalizationMax": 200`, "", "near in b 1/200, balanced b 1/200, near in c 3/50"},
		{`, "max": 300`, "", "near in b 1/300, balanced b 1/300, near in c 3/50"},
		{`, "max": 300, "normalizationMax": 200`, "", "near in b 1/200, balanced b 1/200, near in c 3/50"},
	} {
		var got []string
		for _, p := range accelByteDuel(t, fmt.Sprintf(rules, c.b, c.c)).Rules.Prefer {
			got = append(got, fmt.Sprintf("%s %v/%v", p.Name, p.Weight, p.Scale))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s, %s: %v, want %s", c.b, c.c, got, c.want)
		}
	}
}

// Where AccelByte cuts values at max, it allows matches that ours refuse.
func TestMaxOfAccelByteIsNotExact(t *testing.T) {
	for more, want := range map[string]translation.Verdict{
		"": translation.Exact, `, "max": 0`: translation.Exact, `, "max": 300`: translation.Stricter,
	} {
		got := accelByteDuel(t, `"matching_rule": [{"attribute": "mmr", "criteria": "distance", "reference": 9`+more+`}]`)
		if v := said(t, got, "counts as 0"); v != want {
			t.Errorf("%q is %s, want %s", more, v, want)
		}
	}
}

// A channel has limits of latency and its option of blocked players beside the rule set.
func TestChannelsOfAccelByte(t *testing.T) {
	const set = `"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1, "player_max_number": 1}`
	const beside = `"region_latency_max_ms": 85, "region_latency_initial_range_ms": 70, "region_expansion_rate_ms": 2000,
		"region_expansion_range_ms": 41, "blocked_player_option": "blockedPlayerCanMatch"`
	for _, channel := range []string{
		`{"game_mode": "x", "joinable": false, "rule_set": {` + set + `}, ` + beside + `}`,
		`{"data": [{"gameMode": "x", ` + beside + `, "ruleSet": {` + set + `}}]}`,
		`{"rule_set": ` + strconv.Quote("{"+set+"}") + `, ` + oneLine(beside) + `}`,
	} {
		same(t, dialects.AccelByte, channel, `{`+set+`, `+beside+`}`)
	}
	_, err := dialects.Import(dialects.AccelByte, []byte(`{"rule_set": {`+set+`, "region_latency_max_ms": 90}, `+beside+`}`), "")
	if err == nil || !strings.Contains(err.Error(), "region_latency_max_ms: it says the same as") {
		t.Error(err)
	}
}

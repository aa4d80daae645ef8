package function

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/fake"
)

// propertiesOf makes the properties of a player that has some values.
func propertiesOf(t *testing.T, of map[string]any) map[string][]byte {
	t.Helper()
	properties := map[string][]byte{}
	for name, value := range of {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		properties[name] = text
	}
	return properties
}

// The ticket that waits longest is the first. A weight says which of two others it plays with.
func TestWeightsOfImportedRules(t *testing.T) {
	type player = map[string]any
	latency := func(west, central, ap float64) player {
		return player{"latency": map[string]float64{"us-west": west, "eu-central": central, "ap": ap}}
	}
	const skill = `{"Type": "DifferenceRule", "Name": "SkillRule", "Attribute": {"Path": "skill"}, "Difference": 10,
		"Weight": 1}`
	playFab := func(rule string) string {
		return `{"playfab": {"Name": "q", "MinMatchSize": 2, "MaxMatchSize": 2, "Rules": [` + skill + `, ` + rule + `]}}`
	}
	const maps = `{"Type": "SetIntersectionRule", "Name": "MapRule", "Attribute": {"Path": "maps"},
		"MinIntersectionSize": 1, "Weight": %v}`
	const total = `{"Type": "MatchTotalRule", "Name": "Total", "Attribute": {"Path": "level"}, "Min": 1,
		"Max": 10, "Weight": %v}`
	const build = `{"Type": "StringEqualityRule", "Name": "Build", "Attribute": {"Path": "build"}, "Weight": %v,
		"SecondsUntilOptional": 0}`
	const accelByte = `{"accelbyte": {"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1,
		"player_max_number": 1}, "region_latency_max_ms": 100%s}}`
	list := func(of ...string) []string { return of }
	alice := player{"skill": 20, "maps": list("Dustbowl", "Summit", "Lakeside"), "level": 4, "build": "a"}
	bob := player{"skill": 24, "maps": list("Dustbowl", "Summit"), "level": 6, "build": "a"}
	charlie := player{"skill": 17, "maps": list("Lakeside"), "level": 1, "build": "b"}
	near, far := latency(50, 100, 300), latency(100, 50, 100)
	for name, c := range map[string]struct {
		settings string
		a, b, c  player
		with     uint32
	}{
		"PlayFab's page on weights":  {playFab(fmt.Sprintf(maps, 10)), alice, bob, charlie, 1},
		"a list of little weight":    {playFab(fmt.Sprintf(maps, 0.01)), alice, bob, charlie, 2},
		"a total":                    {playFab(fmt.Sprintf(total, 10)), alice, bob, charlie, 1},
		"a list that is optional":    {playFab(fmt.Sprintf(maps, `10, "SecondsUntilOptional": 0`)), alice, bob, charlie, 1},
		"a text that is optional":    {playFab(fmt.Sprintf(build, 10)), alice, bob, charlie, 1},
		"a text of little weight":    {playFab(fmt.Sprintf(build, 0.01)), alice, bob, charlie, 2},
		"a total of little weight":   {playFab(fmt.Sprintf(total, 0.01)), alice, bob, charlie, 2},
		"latencies without a weight": {fmt.Sprintf(accelByte, ""), near, far, near, 2},
		"latencies of no weight":     {fmt.Sprintf(accelByte, `, "region_latency_rule_weight": 0`), near, far, near, 1},
	} {
		tickets := []fake.Ticket{
			{Wait: 30 * time.Second, Properties: propertiesOf(t, c.a)},
			{Wait: 5 * time.Second, Properties: propertiesOf(t, c.b)},
			{Wait: 5 * time.Second, Properties: propertiesOf(t, c.c)},
		}
		proposals := run(t, translated(t, c.settings), tickets)
		if len(proposals) != 1 {
			t.Errorf("%s: %d matches", name, len(proposals))
			continue
		}
		if in := proposals[0].Tickets(); !slices.Contains(in, 0) || !slices.Contains(in, c.with) {
			t.Errorf("%s: the match has %v, want 0 and %d", name, in, c.with)
		}
	}
}

// A player of AccelByte without a number has 0, also in a party, which has the mean.
func TestNumbersOfAccelByteThatAreMissing(t *testing.T) {
	const settings = `{"accelbyte": {"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1,
		"player_max_number": 2}, "matching_rule": [{"attribute": "mmr", "criteria": "distance", "reference": 10}]}}`
	for _, c := range []struct {
		a, b []any
		want bool
	}{
		{[]any{nil}, []any{10}, true}, {[]any{10}, []any{nil}, true}, {[]any{nil}, []any{11}, false},
		{[]any{nil}, []any{nil}, true}, {[]any{40, nil}, []any{30}, true}, {[]any{40, nil}, []any{31}, false},
	} {
		var tickets []fake.Ticket
		for _, party := range [][]any{c.a, c.b} {
			var ticket fake.Ticket
			for _, mmr := range party {
				one := fake.Player{}
				if mmr != nil {
					one.Properties = propertiesOf(t, map[string]any{"mmr": mmr})
				}
				ticket.Players = append(ticket.Players, one)
			}
			tickets = append(tickets, ticket)
		}
		if got := len(run(t, translated(t, settings), tickets)) == 1; got != c.want {
			t.Errorf("%v and %v match: %t", c.a, c.b, got)
		}
	}
}

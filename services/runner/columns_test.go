package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/rules"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// duels are rule sets of other matchmakers for two players whose skills differ by at most 100, in the same mode.
var duels = map[string]string{
	"flexmatch": `{"ruleLanguageVersion": "1.0", "teams": [{"name": "all", "minPlayers": 2, "maxPlayers": 2}],
		"playerAttributes": [{"name": "skill", "type": "number", "default": 10}, {"name": "mode", "type": "string"}],
		"rules": [
			{"name": "near", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 100},
			{"name": "same", "type": "comparison", "operation": "=",
				"measurements": ["flatten(teams[*].players.attributes[mode])"]}]}`,
	"unity": `{"matchDefinition": {"teams": [{"name": "t", "teamCount": {"min": 2, "max": 2},
		"playerCount": {"min": 1, "max": 1}}], "matchRules": [
			{"name": "near", "type": "Difference", "source": "Players.CustomData.skill", "reference": 100},
			{"name": "same", "type": "Equality", "source": "Players.CustomData.mode"}]}}`,
	"playfab": `{"MinMatchSize": 2, "MaxMatchSize": 2, "Rules": [
		{"Type": "DifferenceRule", "Name": "near", "Attribute": {"Path": "skill"}, "Difference": 100,
			"DefaultAttributeValue": 10},
		{"Type": "StringEqualityRule", "Name": "same", "Attribute": {"Path": "mode"}}]}`,
	"accelbyte": `{"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1, "player_max_number": 1},
		"matching_rule": [{"attribute": "skill", "criteria": "distance", "reference": 100}],
		"match_options": {"options": [{"name": "mode", "type": "all"}]}}`,
}

// Rule sets of other matchmakers, translated, match tickets by their attributes and properties: what they read travels
// to the function from the first run on, and no default stands in for it. A check refuses the originals with an error.
func TestImportedRulesGetWhatTheyRead(t *testing.T) {
	w := newWorld(t)
	module, err := sandboxtest.Shipped(t.TempDir(), "../../functions", "rules")
	w.must(err)
	w.put(project, "rules", module)
	create := func(skill int, mode string, attribute bool) string {
		w.count++
		one := &pb.Ticket{Id: fmt.Sprintf("ticket-%d", w.count), Owner: fmt.Sprint("owner-", w.count),
			Created: int64(1_700_000_000_000 + w.count), Properties: map[string][]byte{"mode": []byte(mode)}}
		if attribute {
			one.AttributeNames, one.AttributeValues = []string{"skill"}, []float64{float64(skill)}
		} else {
			one.Properties["skill"] = fmt.Append(nil, skill)
		}
		w.must(w.tickets.Create(t.Context(), project, one))
		return one.GetId()
	}
	var want []string
	for _, c := range []struct {
		skill     int
		attribute bool
	}{{1500, true}, {4000, false}} {
		a, b := create(c.skill, `"ranked"`, c.attribute), create(c.skill+60, `"ranked"`, c.attribute)
		want = append(want, a+" "+b)
		create(c.skill+20, `"casual"`, c.attribute)
		create(c.skill+4000, `"ranked"`, c.attribute)
	}
	w.startRunner("runner", quickSettings())
	w.waitServing("rules", 1)
	invoke := func(settings string, check bool) answer {
		return w.awaitAnswer(w.startRun(&pb.RunRequest{Project: project, Function: "rules", Position: w.position(),
			Budget: 20_000, Settings: []byte(settings), Check: check}))
	}
	for language, file := range duels {
		original := fmt.Sprintf(`{%q: %s}`, language, file)
		ours, err := dialects.Read([]byte(original))
		w.must(err)
		settings := string(rules.Write(ours))
		if a := invoke(settings, true); a.error != "" {
			t.Errorf("%s is refused: %s", language, a.error)
		}
		for range 2 { // the second one has no news for the function
			a := invoke(settings, false)
			var got []string
			for _, p := range a.proposals {
				ids := proposals.TicketsOf(p)
				slices.Sort(ids)
				got = append(got, strings.Join(ids, " "))
			}
			if slices.Sort(got); a.error != "" || !slices.Equal(got, want) {
				t.Errorf("%s: the matches are %q, want %q, error %q", language, got, want, a.error)
			}
		}
		for _, check := range []bool{true, false} {
			if a := invoke(original, check); !strings.HasPrefix(a.error, "settings: ") ||
				!strings.Contains(a.error, language+": this is a rule set of another matchmaker") {
				t.Errorf("the original, check %t: %q", check, a.error)
			}
		}
	}
}

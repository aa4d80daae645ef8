package function

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/fake"
)

// duels are rule sets for two whose skills differ by at most 100, and who play the same mode.
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
		"match_options": {"options": [{"name": "mode", "type": "all"}]}, "blocked_player_option": "blockedPlayerCanMatch"}`,
}

// settingsOf has a rule set as an object and as a text.
func settingsOf(t *testing.T, language, file string) map[string]string {
	t.Helper()
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"object": fmt.Sprintf(`{%q: %s}`, language, file), "text": fmt.Sprintf(`{%q: %s}`, language, text),
	}
}

// What clients send the ordinary way counts in rule sets of each language, as an object and as a text: numbers as
// attributes or properties, of tickets and of players.
func TestImportedRulesReadWhatClientsSend(t *testing.T) {
	kinds := map[string]func(skill, mode string) fake.Ticket{
		"attributes of tickets": func(skill, mode string) fake.Ticket {
			return fake.Ticket{Attributes: map[string]float64{"skill": number(t, skill)},
				Properties: map[string][]byte{"mode": []byte(mode)}}
		},
		"properties of tickets": func(skill, mode string) fake.Ticket {
			return fake.Ticket{Properties: map[string][]byte{"skill": []byte(skill), "mode": []byte(mode)}}
		},
		"attributes of players": func(skill, mode string) fake.Ticket {
			return fake.Ticket{Players: []fake.Player{{Attributes: map[string]float64{"skill": number(t, skill)},
				Properties: map[string][]byte{"mode": []byte(mode)}}}}
		},
		"properties of players": func(skill, mode string) fake.Ticket {
			return fake.Ticket{Players: []fake.Player{{
				Properties: map[string][]byte{"skill": []byte(skill), "mode": []byte(mode)}}}}
		},
	}
	for language, file := range duels {
		for form, settings := range settingsOf(t, language, file) {
			for kind, ticket := range kinds {
				t.Run(language+" "+form+" "+kind, func(t *testing.T) {
					for _, c := range []struct {
						a, b  fake.Ticket
						match bool
					}{
						{ticket("1500", `"ranked"`), ticket("1550", `"ranked"`), true},
						{ticket("1500", `"ranked"`), ticket("9000", `"ranked"`), false},
						{ticket("1500", `"ranked"`), ticket("1550", `"casual"`), false},
					} {
						if got := run(t, settings, []fake.Ticket{c.a, c.b}); (len(got) == 1) != c.match {
							t.Errorf("%v and %v: %d matches", c.a, c.b, len(got))
						}
					}
				})
			}
		}
	}
}

func number(t *testing.T, text string) (n float64) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The function names what a rule set reads. Settings that it refuses have no columns.
func TestRulesNameWhatTheyRead(t *testing.T) {
	for language, file := range duels {
		for form, settings := range settingsOf(t, language, file) {
			c, err := function.Columns([]byte(settings))
			if err != nil || !slices.Equal(c.Attributes, []string{"skill"}) ||
				!slices.Equal(c.PlayerAttributes, []string{"skill"}) || !slices.Contains(c.Properties, "mode") ||
				!slices.Contains(c.PlayerProperties, "mode") || len(c.Properties) != 2 {
				t.Errorf("%s %s: %+v, %v", language, form, c, err)
			}
		}
	}
	long := strings.ReplaceAll(duels["playfab"], `"mode"`, `"`+strings.Repeat("x", 257)+`"`)
	for settings, want := range map[string]string{
		`{"teams": 1}`: "settings: ", `{"unity": "{"}`: "settings: unity: ",
		`{"playfab": ` + long + `}`: "settings: playfab: ",
	} {
		if c, err := function.Columns([]byte(settings)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %+v, %v", settings, c, err)
		}
	}
}

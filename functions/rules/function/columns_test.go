package function

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn"
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

// duel is one of them in our language.
func duel(t *testing.T, language string) string {
	t.Helper()
	return translated(t, fmt.Sprintf(`{%q: %s}`, language, duels[language]))
}

// What clients send the ordinary way counts in what becomes of rule sets of each language: numbers as attributes or
// properties, of tickets and of players.
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
	for language := range duels {
		settings := duel(t, language)
		for kind, ticket := range kinds {
			t.Run(language+" "+kind, func(t *testing.T) {
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

func number(t *testing.T, text string) (n float64) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The function names what a rule set reads. Settings that it refuses have no columns.
func TestRulesNameWhatTheyRead(t *testing.T) {
	for language := range duels {
		c, err := function.Columns([]byte(duel(t, language)))
		if err != nil || !slices.Equal(c.Attributes, []string{"skill"}) ||
			!slices.Equal(c.PlayerAttributes, []string{"skill"}) || !slices.Contains(c.Properties, "mode") ||
			!slices.Contains(c.PlayerProperties, "mode") || len(c.Properties) != 2 {
			t.Errorf("%s: %+v, %v", language, c, err)
		}
	}
	if c, err := function.Columns([]byte(`{"teams": 1}`)); err == nil || !strings.HasPrefix(err.Error(), "settings: ") {
		t.Errorf("%+v, %v", c, err)
	}
}

// Rule sets of other matchmakers are refused with the command that translates them, as a member and as they are.
func TestRulesOfOtherMatchmakersAreRefused(t *testing.T) {
	for language, file := range duels {
		for _, settings := range []string{file, fmt.Sprintf(`{%q: %s}`, language, file), fmt.Sprintf(`{%q: "{"}`, language)} {
			_, err := fake.Run(matchfn.New(Match, Options()...), fake.Request{Settings: settings})
			if want := "translate it with \"mm rules import " + language + " FILE\""; err == nil ||
				!strings.Contains(err.Error(), "settings: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", settings, err, want)
			}
		}
	}
}

// Services keep settings as one line: its columns are not a file's.
func TestErrorsOfSettingsOnOneLineHaveNoLine(t *testing.T) {
	for settings, want := range map[string]string{
		`{"teams": [{"name": "a", "size": 2}], "rules": [{"spread": "x", "max": 1}]}`: `rules[0].spread: there is no value "x"`,
		`{"teams": [{"name": "a", "size": 2, "x": 1}]}`:                               `teams[0].x: `,
		"{\"teams\": [\n{\"name\": \"a\", \"size\": 2, \"x\": 1}]}":                   `line 2, column 31: teams[0].x: `,
	} {
		if _, err := read([]byte(settings)); err == nil || !strings.HasPrefix(err.Error(), "settings: "+want) {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
}

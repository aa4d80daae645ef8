package dialects_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
)

var update = flag.Bool("update", false, "write the golden files")

// examples returns the example files by their path, and the language of each.
func examples(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, language := range dialects.Languages() {
		paths, err := filepath.Glob(filepath.Join("testdata", language, "*.json"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s has no examples: %v", language, err)
		}
		for _, path := range paths {
			files[path] = language
		}
	}
	return files
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestExamplesHaveTheirVerdictsAndRules(t *testing.T) {
	for path, language := range examples(t) {
		t.Run(strings.TrimPrefix(path, "testdata/"), func(t *testing.T) {
			result, err := dialects.Import(language, read(t, path), "")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, l := range result.Lines {
				got += l.String() + "\n"
			}
			ours := rules.Write(result.Rules)
			got += "\n" + string(ours)
			golden := strings.TrimSuffix(path, ".json") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(read(t, golden)); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			again, err := rules.Parse(ours)
			if err != nil {
				t.Fatalf("our rules: %v", err)
			}
			if text := rules.Write(again); string(text) != string(ours) {
				t.Errorf("our rules are read as others:\n%s", text)
			}
		})
	}
}

// A config takes the text of a file, and says what an import says.
func TestConfigTakesTheTextOfAFile(t *testing.T) {
	for path, language := range examples(t) {
		text := read(t, path)
		result, err := dialects.Import(language, text, "")
		if err != nil {
			t.Fatal(err)
		}
		settings, err := json.Marshal(map[string]string{language: string(text)})
		if err != nil {
			t.Fatal(err)
		}
		ours, err := dialects.Read(settings)
		if refused := result.Refused(); refused != nil {
			if err == nil || !strings.HasSuffix(err.Error(), refused.Error()) {
				t.Errorf("%s: %v, want %v", path, err, refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got, want := rules.Write(ours), rules.Write(result.Rules); string(got) != string(want) {
			t.Errorf("%s: the config is\n%s\nnot\n%s", path, got, want)
		}
	}
}

const small = `{"ruleLanguageVersion": "1.0", "teams": [{"name": "a", "minPlayers": 2, "maxPlayers": 2}]}`

func TestConfigTakesAnObjectAndOurLanguage(t *testing.T) {
	want, err := dialects.Read([]byte(`{"teams": [{"name": "a", "size": 2}], "backfill": {"open": 0}}`))
	if err != nil {
		t.Fatal(err)
	}
	wrapped, _ := json.Marshal(map[string]any{"flexmatch": map[string]string{"RuleSetBody": small}})
	for _, settings := range []string{`{"flexmatch": ` + small + `}`, string(wrapped)} {
		got, err := dialects.Read([]byte(settings))
		if err != nil {
			t.Fatalf("%s: %v", settings, err)
		}
		if string(rules.Write(got)) != string(rules.Write(want)) {
			t.Errorf("%s is %s", settings, rules.Write(got))
		}
	}
	pools := `{"unity": {"name": "q", "filteredPools": [%s, %s]}, "pool": "two"}`
	pool := `{"name": "%s", "matchLogic": {"name": "l", "matchDefinition": {"teams": [{"name": "t",
		"playerCount": {"min": %d, "max": 4}}]}}}`
	got, err := dialects.Read(fmt.Appendf(nil, pools, fmt.Sprintf(pool, "one", 1), fmt.Sprintf(pool, "two", 2)))
	if err != nil || got.Teams[0].Size.Min.Start != 2 {
		t.Errorf("the pool two is %v, %v", got, err)
	}
}

// What files say of running games becomes ours, with a verdict.
func TestBackfillOfFiles(t *testing.T) {
	flex := `{"ruleLanguageVersion": "1.0", "teams": [{"name": "a", "minPlayers": 2, "maxPlayers": 2}],
		"algorithm": {"backfillPriority": "%s"}}`
	unity := `{"matchDefinition": {"teams": [{"name": "t", "playerCount": {"min": 1, "max": 2}}]}, "backfillEnabled": %s}`
	accelbyte := `{"alliance": {"min_number": 1, "max_number": 1, "player_min_number": 1, "player_max_number": 2},
		"auto_backfill": %s}`
	body := `{"RuleSetBody": ` + small + `, "BackfillMode": "%s"}`
	for _, c := range []struct {
		language, text string
		first          rules.First
		create         rules.Create
		verdict        translation.Verdict
	}{
		{"flexmatch", fmt.Sprintf(flex, "high"), rules.GamesFirst, "", translation.Exact},
		{"flexmatch", fmt.Sprintf(flex, "normal"), "", "", translation.Note},
		{"flexmatch", fmt.Sprintf(flex, "low"), rules.MatchesFirst, "", translation.Exact},
		{"flexmatch", fmt.Sprintf(body, "AUTOMATIC"), "", rules.CreateShort, translation.Exact},
		{"flexmatch", fmt.Sprintf(body, "MANUAL"), "", "", translation.Exact},
		{"unity", fmt.Sprintf(unity, "true"), rules.GamesFirst, rules.CreateShort, translation.Exact},
		{"unity", fmt.Sprintf(unity, "false"), rules.GamesFirst, "", translation.Exact},
		{"accelbyte", fmt.Sprintf(accelbyte, "true"), rules.GamesFirst, rules.CreateShort, translation.Exact},
		{"accelbyte", fmt.Sprintf(accelbyte, "false"), rules.GamesFirst, "", translation.Exact},
	} {
		got, err := dialects.Import(c.language, []byte(c.text), "")
		if err != nil {
			t.Fatal(err)
		}
		b := got.Rules.Backfill
		said := slices.ContainsFunc(got.Lines, func(l translation.Line) bool {
			return l.Verdict == c.verdict &&
				(strings.Contains(l.Why, "running games") || strings.Contains(l.Why, "backfill ticket"))
		})
		if b.First != c.first || b.Create != c.create || !said || b.Active != nil {
			t.Errorf("%s: %+v, %v", c.text, b, got.Lines)
		}
	}
}

func TestWrongFilesAreRefusedWithThePlace(t *testing.T) {
	flex := func(attributes, rule string) string {
		return `{"ruleLanguageVersion": "1.0", "playerAttributes": [` + attributes + `],
"teams": [{"name": "a", "minPlayers": 1, "maxPlayers": 2}, {"name": "b", "minPlayers": 1, "maxPlayers": 2}],
"rules": [` + rule + `]}`
	}
	skill := `{"name": "skill", "type": "number"}, {"name": "modes", "type": "string_list"}`
	distance := func(measured string) string {
		return flex(skill, `{"name": "r", "type": "distance", "maxDistance": 1, "referenceValue": 1, "measurements": ["`+
			measured+`"]}`)
	}
	named := func(more string) string {
		return `{"alliance": {"min_number": 1, "max_number": 1, "player_min_number": 1, "player_max_number": 2}, ` + more + `}`
	}
	for _, c := range []struct{ language, text, want string }{
		{"flexmatch", `[]`, "an object is expected, not a list"},
		{"flexmatch", `{}`, `"ruleLanguageVersion" is missing`},
		{"flexmatch", `{"RuleSetBody": ` + small + `, "BackfillMode": "automatic"}`,
			"BackfillMode: must be AUTOMATIC or MANUAL"},
		{"flexmatch", `{"ruleLanguageVersion": "2.0"}`, `line 1, column 25: ruleLanguageVersion: must be "1.0", not "2.0"`},
		{"flexmatch", `{"ruleLanguageVersion": "1.0"}`, `"teams" is missing`},
		{"flexmatch", "{\"name\": \"a\",\n \"name\": \"b\"}", `line 2`},
		{"flexmatch", flex(`{"name": "s", "type": "bool"}`, ``), "playerAttributes[0].type: must be one of number, string"},
		{"flexmatch", flex(`{"name": "s", "type": "number", "default": "x"}`, ``),
			`playerAttributes[0].default: a number is expected, not "x"`},
		{"flexmatch", flex(skill, `{"name": "r", "type": "latency", "maxLatencyy": 3}`), `rules[0]: "maxLatency" is missing`},
		{"flexmatch", flex(skill, `{"name": "r", "type": "latency", "maxLatency": 3, "mex": 3}`),
			`rules[0].mex: "mex" is not known here`},
		{"flexmatch", distance("avrg(teams[a].players)"), `"avrg" is not a function`},
		{"flexmatch", distance("avg(teams[c].players.attributes[skill])"), `there is no team "c", only a, b`},
		{"flexmatch", distance("avg(teams[a].players.attributes[mmr])"),
			`there is no player attribute "mmr", only modes, skill`},
		{"flexmatch", distance("avg(teams[a].players)"), "avg needs a list of numbers, not a list of players"},
		{"flexmatch", distance("flatten(teams[a].players.attributes[skill])"),
			"flatten needs a list of lists, not a list of numbers"},
		{"flexmatch", distance("avg(teams[a].players.attributes[skill]"), `" is not an expression: a function of one, teams[…].players`},
		{"flexmatch", distance("avg(teams[a.players)"), `"teams[a.players" is not an expression`},
		{"flexmatch", distance(strings.Repeat("max(", 9) + "teams[a].players" + strings.Repeat(")", 9)),
			"functions are nested more than 8 deep"},
		{"flexmatch", distance(strings.Repeat(" ", 1001)), "the expression has 1001 bytes, and at most 1000 are allowed"},
		{"flexmatch", flex(skill, `{"name": "r", "type": "compound", "statement": "and(a, b)"}`),
			`no rule "a" is before this one`},
		{"flexmatch", flex(skill, `{"name": "a", "type": "latency", "maxLatency": 9},
			{"name": "r", "type": "compound", "statement": "not(a, a)"}`), "not has 2 parts, and 1 are expected"},
		{"flexmatch", flex(skill, `{"name": "a", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 9},
			{"name": "r", "type": "compound", "statement": "not(a)"}`), "which cannot be part of a compound rule"},
		{"flexmatch", `{"ruleLanguageVersion": "1.0", "teams": [{"name": "a", "minPlayers": 2, "maxPlayers": 2}],
			"expansions": [{"target": "rules[x].maxDistance", "steps": [{"waitTimeSeconds": 1, "value": 1}]}]}`,
			`expansions[0].target: there is no rule "x", only none`},
		// AWS's example 7 of 2019 has two targets in one expansion.
		{"flexmatch", `{"ruleLanguageVersion": "1.0", "teams": [{"name": "a", "minPlayers": 2, "maxPlayers": 2}],
			"expansions": [{"target": "rules[x].maxLatency", "steps": [], "target": "teams[a].minPlayers"}]}`,
			`line 2, column 74: expansions[0]: there are two members "target"`},
		{"flexmatch", `{"ruleLanguageVersion": "1.0", "teams": [{"name": "a", "minPlayers": 3, "maxPlayers": 2}]}`,
			"teams[0]: minPlayers is more than maxPlayers"},
		{"flexmatch", `{"ruleLanguageVersion": "1.0", "teams": [{"name": "a", "minPlayers": 3, "maxPlayers": 2}],
			"expansions": [{"target": "teams[a].minPlayers", "steps": [{"waitTimeSeconds": 9, "value": 2}]}]}`,
			"teams[0]: minPlayers is more than maxPlayers"},
		{"flexmatch", `{"ruleLanguageVersion": "1.0", "teams": [{"name": "a", "minPlayers": 3, "maxPlayers": 1001}]}`,
			"teams[0].maxPlayers: must be a whole number from 1 to 1000"},
		{"flexmatch", `{"ruleLanguageVersion": "1.0", "teams": [{"name": "a", "minPlayers": 2, "maxPlayers": 2}],
			"playerAttributes": [{"name": "modes", "type": "string_list", "default": ["a", ""]}]}`,
			"playerAttributes[0].default[1]: a string of 1 to 256 bytes is expected, not one of 0"},
		{"flexmatch", flex(`{"name": "latency", "type": "number"}`, `{"name": "r", "type": "latency", "maxLatency": 9}`),
			`playerAttributes[0].name: players have their latencies under the name "latency", which the rule "r" needs`},
		{"flexmatch", flex(`{"name": "id", "type": "number"}, {"name": "b", "type": "string_list"}`,
			`{"name": "r", "type": "collection", "operation": "reference_intersection_count", "maxCount": 0,
			"measurements": "flatten(teams[*].players.attributes[b])", "referenceValue": "flatten(teams[*].players[playerId])"}`),
			`playerAttributes[0].name: players have their ids under the name "id", which the rule "r" needs`},
		{"flexmatch", flex(`{"name": "id", "type": "string"}`, ``),
			`playerAttributes[0].name: players have their ids under the name "id": give the attribute another name`},
		{"flexmatch", "[" + strings.Repeat("0,", 30000) + "0]", "at most 20000 are allowed"},
		{"flexmatch", strings.Repeat(" ", 300000), "at most 262144 are allowed"},
		{"flexmatch", strings.Repeat("[", 40), "nested more than"},
		{"unity", `{}`, `"matchDefinition" is missing`},
		{"unity", `{"maxPlayersPerTicket": 1, "defaultPool": null}`, "the queue has no pool"},
		{"unity", `{"name": "l", "Name": "l", "matchDefinition": {}}`, "Name: it says the same as name, which is here too"},
		{"unity", `{"matchDefinition": {"teams": [{"name": "t", "playerCount": {"min": 1, "max": 2, "relaxations": [
			{"type": "RangeControl.ReplaceMin", "atSeconds": 1, "value": 1.5}]}}]}}`,
			"value must be a whole number from 0 to 1000"},
		{"unity", `{"matchDefinition": {"teams": [{"name": "t", "playerCount": {"min": 3, "max": 4, "relaxations": [
			{"type": "RangeControl.ReplaceMin", "atSeconds": 1, "value": 2},
			{"type": "RangeControl.ReplaceMin", "atSeconds": 2, "value": 1, "ageType": "Average"}]}}]}}`,
			"playerCount.relaxations[1]: has the ageType Average, and the first relaxation Oldest"},
		{"unity", `{"matchDefinition": {"teams": [{"name": "t", "teamCount": {"min": 0, "max": 1},
			"playerCount": {"min": 5, "max": 3}}]}}`, "teams[0].playerCount: min is more than max"},
		{"playfab", `{"MinMatchSize": 1}`, `"MaxMatchSize" is missing`},
		{"playfab", `{"MinMatchSize": 3, "MaxMatchSize": 2}`, "MinMatchSize is more than MaxMatchSize"},
		{"playfab", `{"MinMatchSize": 2, "MaxMatchSize": 2, "Rules": [{"Type": "X"}]}`, "Rules[0].Type: must be one of"},
		{"playfab", `{"MinMatchSize": 2, "MaxMatchSize": 2, "DifferenceRules": [{"Attribute": {"Path": "a"},
			"Difference": 1, "LinearExpansion": {"Delta": 1, "Limit": 2}}]}`, "SecondsBetweenExpansions must be more than 0"},
		{"playfab", `{"MinMatchSize": 2, "MaxMatchSize": 2, "DifferenceRules": [{"Attribute": {"Path": "$."},
			"Difference": 1}]}`, "DifferenceRules[0].Attribute: its Path names no attribute"},
		{"accelbyte", `{}`, `"alliance" is missing`},
		{"accelbyte", named(`"alliance_flexing_rule": [{"duration": 10, "min_number": 2, "max_number": 2,
			"player_min_number": 5, "player_max_number": 3}]`),
			"alliance_flexing_rule[0]: player_min_number is more than player_max_number"},
		{"accelbyte", `{"alliance": {"min_number": 1, "max_number": 1, "player_min_number": 1, "player_max_number": 2},
			"flexing_rule": [{"attribute": "mmr", "duration": 1, "reference": 1}]}`,
			`flexing_rule[0]: there is no matching rule for the attribute "mmr"`},
		{"accelbyte", `{"alliance": {"min_number": 1, "max_number": 1, "player_min_number": 1, "player_max_number": 2},
			"matching_rule": [{"attribute": "mmr", "criteria": "median", "reference": 1}]}`,
			`matching_rule[0].criteria: must be one of distance, average, smaller, greater, not "median"`},
		{"accelbyte", `{"alliance": {"min_number": 1, "max_number": 1, "player_min_number": 1, "player_max_number": 2},
			"matching_rule": [{"attribute": "mmr", "criteria": "average", "reference": 1}],
			"flexing_rule": [{"attribute": "mmr", "criteria": "distance", "reference": 1, "duration": 9}]}`,
			`flexing_rule[0]: its criteria is distance, and that of the matching rule for "mmr" is average`},
		{"accelbyte", named(`"matching_rule": [{"attribute": "latency", "criteria": "distance", "reference": 1}],
			"region_latency_max_ms": 9`),
			`matching_rule[0]: players have their latencies by region under the name "latency", and the rule needs a number`},
		{"accelbyte", named(`"matching_rule": [{"attribute": "mmr", "criteria": "distance", "reference": 1}],
			"match_options": {"options": [{"name": "mmr", "type": "all"}]}`),
			`match_options.options[0]: players have a number under the name "mmr", and the option needs a string`},
		{"accelbyte", named(`"blocked_player_option": "blockedPlayerCannotMatch",
			"match_options": {"options": [{"name": "blocked", "type": "any"}]}`),
			`options[0]: players have the ids that they block under the name "blocked", and the option needs a list`},
		{"accelbyte", named(`"match_options": {"options": [{"name": "current_platform", "type": "any"},
			{"name": "cross_platform", "type": "any"}]}`),
			`options[1]: players have a list of strings under the name "current_platform", and the option needs a string`},
		{"nakama", `{}`, `there is no language "nakama"`},
	} {
		if _, err := dialects.Import(c.language, []byte(c.text), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.200s:\n%v, want %s", c.language, c.text, err, c.want)
		}
	}
	if _, err := dialects.Read([]byte(`{"flexmatch": ` + small + `, "teams": []}`)); err == nil ||
		!strings.Contains(err.Error(), `teams: there is no such member beside "flexmatch"`) {
		t.Error(err)
	}
	if _, err := dialects.Import(dialects.FlexMatch, []byte(small), "p"); err == nil {
		t.Error("a pool of FlexMatch was found")
	}
}

// Whatever is in a file, it is an error or rules that our language can say.
func try(t *testing.T, result *translation.Translation, err error) {
	if err != nil {
		return
	}
	ours := rules.Write(result.Rules)
	if _, err := rules.Parse(ours); err != nil {
		t.Fatalf("our rules are wrong: %v\n%s", err, ours)
	}
}

func fuzz(f *testing.F, language string) {
	for path, of := range examples(f) {
		if of == language {
			f.Add(read(f, path))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		result, err := dialects.Import(language, text, "")
		try(t, result, err)
	})
}

func FuzzFlexMatch(f *testing.F) { fuzz(f, dialects.FlexMatch) }
func FuzzUnity(f *testing.F)     { fuzz(f, dialects.Unity) }
func FuzzPlayFab(f *testing.F)   { fuzz(f, dialects.PlayFab) }
func FuzzAccelByte(f *testing.F) { fuzz(f, dialects.AccelByte) }

func TestGuess(t *testing.T) {
	for path, language := range examples(t) {
		if got := dialects.Guess(read(t, path)); got != language {
			t.Errorf("%s: %q is guessed, want %q", path, got, language)
		}
	}
	for _, text := range []string{`{"teams": []}`, `{`, `[1]`, ``} {
		if got := dialects.Guess([]byte(text)); got != "" {
			t.Errorf("%s: %q is guessed", text, got)
		}
	}
}

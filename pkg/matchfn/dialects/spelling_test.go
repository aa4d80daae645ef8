package dialects_test

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// same tests that two files become the same rules.
func same(t *testing.T, language, a, b string) {
	t.Helper()
	var texts [2]string
	for i, text := range []string{a, b} {
		result, err := dialects.Import(language, []byte(text), "")
		if err != nil {
			t.Errorf("%s: %s: %v", language, text, err)
			return
		}
		texts[i] = string(rules.Write(result.Rules))
	}
	if texts[0] != texts[1] {
		t.Errorf("%s becomes\n%s\nand not, as %s,\n%s", a, texts[0], b, texts[1])
	}
}

const (
	flexFile = `{"ruleLanguageVersion": "1.0", "playerAttributes": [
		{"name": "maps", "type": "string_list", "default": ["a"]}, {"name": "skill", "type": "number"}],
		"teams": [{"name": "t", "minPlayers": 2, "maxPlayers": 4}],
		"rules": [{"name": "r", "type": "distance", "measurements": ["avg(teams[t].players.attributes[skill])"],
			"referenceValue": 5, "maxDistance": 3},
		{"name": "s", "type": "collection", "operation": "reference_intersection_count", "maxCount": 0, "measurements":
			["flatten(teams[*].players.attributes[maps])"], "referenceValue": "flatten(teams[*].players[playerId])"}],
		"expansions": [{"target": "teams[t].minPlayers", "steps": [{"waitTimeSeconds": 9, "value": 1}]}]}`
	unityFile = `{"name": "l", "backfillEnabled": true, "matchDefinition": {"teams": [{"name": "t",
		"teamCount": {"min": 2, "max": 2, "relaxations": [
			{"type": "RangeControl.ReplaceMin", "ageType": "Oldest", "atSeconds": 10, "value": 1}]},
		"playerCount": {"min": 1, "max": 1}}], "matchRules": [
		{"name": "a", "type": "Difference", "source": "Players.CustomData.skill", "reference": 100, "relaxations": [
			{"type": "ReferenceControl.Replace", "atSeconds": 5, "value": 200}, {"type": "RuleControl.Disable", "atSeconds": 9},
			{"type": "RuleControl.Enable", "atSeconds": 20}]},
		{"name": "b", "type": "InList", "source": "Players.CustomData.map", "reference": ["arena"]},
		{"name": "c", "type": "LessThanEqual", "source": "Players.QosResults.Latency", "reference": 90},
		{"name": "d", "type": "GreaterThan", "source": "Players.ExternalData.Leaderboard.Score", "reference": 3}]}}`
	playFabFile = `{"Name": "q", "MinMatchSize": 2, "MaxMatchSize": 4, "Teams": [{"Name": "x", "MinTeamSize": 1,
		"MaxTeamSize": 2}, {"Name": "y", "MinTeamSize": 1, "MaxTeamSize": 2}], "Rules": [
		{"Type": "DifferenceRule", "Name": "d", "Attribute": {"Path": "skill", "Source": "User"}, "Difference": 10},
		{"Type": "TeamDifferenceRule", "Name": "t", "Attribute": {"Path": "skill"}, "Difference": 5},
		{"Type": "TeamSizeBalanceRule", "Name": "b", "Difference": 1},
		{"Type": "StringEqualityRule", "Name": "e", "Attribute": {"Path": "build"},
			"Expansion": {"EnabledOverrides": [true, false], "SecondsBetweenExpansions": 10}},
		{"Type": "SetIntersectionRule", "Name": "s", "Attribute": {"Path": "maps"}, "MinIntersectionSize": 1,
			"DefaultAttributeValue": ["a"]}]}`
	accelByteFile = `{"auto_backfill": true, "alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1,
		"player_max_number": 1}, "matching_rule": [{"attribute": "mmr", "criteria": "distance", "reference": 100,
		"isForBalancing": true}], "flexing_rule": [{"duration": 9, "attribute": "mmr", "reference": 200}],
		"alliance_flexing_rule": [{"duration": 30, "min_number": 1, "max_number": 2, "player_min_number": 1,
			"player_max_number": 1}], "match_options": {"options": [{"name": "map", "type": "any"}]},
		"region_latency_max_ms": 200}`
)

// Vendors spell the same in several ways: in their documentation, their samples, and what their tools write.
func TestSpellingsOfVendors(t *testing.T) {
	for _, c := range []struct{ language, file, from, to string }{
		{dialects.FlexMatch, flexFile, "teams[t].players", "team[t].players"},
		{dialects.FlexMatch, flexFile, "[playerId]", "[playerid]"},
		{dialects.FlexMatch, flexFile, "teams[t].minPlayers", "teams[*].minPlayers"},
		{dialects.Unity, unityFile, "RangeControl.ReplaceMin", "RangeControlReplaceMin"},
		{dialects.Unity, unityFile, "ReferenceControl.Replace", "ReferenceControlReplace"},
		{dialects.Unity, unityFile, "RuleControl.Disable", "RuleControlDisable"},
		{dialects.Unity, unityFile, "RuleControl.Enable", "RuleControlEnable"},
		{dialects.Unity, unityFile, "Oldest", "oldest"},
		{dialects.Unity, unityFile, `"reference"`, `"Reference"`},
		{dialects.Unity, unityFile, "Players.QosResults.Latency", "Players.QoSResults.Latency"},
		{dialects.Unity, unityFile, "Players.ExternalData.Leaderboard", "Players.CustomData.ExternalData.Leaderboard"},
		{dialects.PlayFab, playFabFile, `"Difference": 10`, `"MaxDifference": 10`},
		{dialects.PlayFab, playFabFile, `"Difference": 5`, `"MaxDifference": 5`},
		{dialects.PlayFab, playFabFile, `"Difference": 1}`, `"maxDifference": 1}`},
		{dialects.PlayFab, playFabFile, `"MinMatchSize"`, `"minMatchSize"`},
		{dialects.PlayFab, playFabFile, `"DifferenceRule"`, `"Difference Rule"`},
		{dialects.AccelByte, accelByteFile, `"matching_rule"`, `"matchingRules"`},
		{dialects.AccelByte, accelByteFile, `"flexing_rule"`, `"flexingRule"`},
		{dialects.AccelByte, accelByteFile, `"alliance_flexing_rule"`, `"allianceFlexingRule"`},
		{dialects.AccelByte, accelByteFile, `"match_options"`, `"matchOptions"`},
		{dialects.AccelByte, accelByteFile, `"region_latency_max_ms"`, `"regionLatencyMaxMs"`},
		{dialects.AccelByte, accelByteFile, `"auto_backfill"`, `"autoBackfill"`},
		{dialects.AccelByte, accelByteFile, `"player_min_number"`, `"playerMinNumber"`},
		{dialects.AccelByte, accelByteFile, `"isForBalancing"`, `"is_for_balancing"`},
	} {
		other := strings.ReplaceAll(c.file, c.from, c.to)
		if other == c.file {
			t.Errorf("%s has no %s", c.language, c.from)
		}
		same(t, c.language, other, c.file)
	}
}

// files are one of each language.
var files = map[string]string{
	dialects.FlexMatch: flexFile, dialects.Unity: unityFile, dialects.PlayFab: playFabFile,
	dialects.AccelByte: accelByteFile,
}

// Tools and SDKs write the members in their language's case: each may be in any.
func TestMembersInAnyCase(t *testing.T) {
	member := regexp.MustCompile(`"(\w+)":`)
	words := regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)
	for language, file := range files {
		for _, join := range []func(i int, word string) string{
			func(_ int, word string) string { return strings.ToUpper(word[:1]) + word[1:] },
			func(i int, word string) string {
				if i == 0 {
					return strings.ToLower(word)
				}
				return strings.ToUpper(word[:1]) + word[1:]
			},
			func(i int, word string) string { return strings.Repeat("_", min(i, 1)) + strings.ToLower(word) },
			func(_ int, word string) string { return strings.ToUpper(word) },
		} {
			same(t, language, member.ReplaceAllStringFunc(file, func(m string) string {
				out := ""
				for i, word := range words.FindAllString(m, -1) {
					out += join(i, word)
				}
				return strconv.Quote(out) + ":"
			}), file)
		}
	}
	same(t, dialects.FlexMatch, strings.Replace(flexFile, "teams[t].minPlayers", "teams[t].MinPlayers", 1), flexFile)
	nested, before := "", "c"
	for range 6 {
		nested += `, {"Name": "c` + before + `", "Type": "compound", "Statement": "` + strings.Repeat("not(", 6) + before +
			strings.Repeat(")", 6) + `"}`
		before = "c" + before
	}
	for file, want := range map[string]string{
		`{"minMatchSize": 2, "maxMatchSize": 2, "maxTicketSize": 1}`: "line 1, maxTicketSize: exact",
		`{"RuleLanguageVersion": "1.0", "PlayerAttributes": {"Name": "id", "Type": "string"}, "Teams":
			{"Name": "t", "MinPlayers": 1, "MaxPlayers": 2}}`: "column 61: PlayerAttributes.Name: players have their ids",
		`{"RuleLanguageVersion": "1.0", "Teams": {"Name": "t", "MinPlayers": 1, "MaxPlayers": 2}, "Rules": [
			{"Name": "c", "Type": "latency", "MaxLatency": 9}` + nested + `]}`: `refused: its part "cccccc": it is nested too deep`,
	} {
		result, err := dialects.Import(dialects.Guess([]byte(file)), []byte(file), "")
		said := fmt.Sprint(err)
		if err == nil {
			said = fmt.Sprint(result.Lines)
		}
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %s", file, said, want)
		}
	}
}

// A single value stands for a list of one, a text for its number or truth.
func TestSingleValuesAndTexts(t *testing.T) {
	for _, c := range []struct{ language, file, from, to string }{
		{dialects.FlexMatch, flexFile, `"default": ["a"]`, `"default": "a"`},
		{dialects.FlexMatch, flexFile, `["avg(teams[t].players.attributes[skill])"]`,
			`"avg(teams[t].players.attributes[skill])"`},
		{dialects.FlexMatch, flexFile, `"maxDistance": 3`, `"maxDistance": "3"`},
		{dialects.FlexMatch, flexFile, `"teams": [{"name": "t", "minPlayers": 2, "maxPlayers": 4}]`,
			`"teams": {"name": "t", "minPlayers": "2", "maxPlayers": "4"}`},
		{dialects.Unity, unityFile, `["arena"]`, `"arena"`},
		{dialects.Unity, unityFile, `"reference": 100`, `"reference": "100"`},
		{dialects.Unity, unityFile, `"value": 200`, `"value": "200"`},
		{dialects.Unity, unityFile, `"value": 1}`, `"value": "1"}`},
		{dialects.Unity, unityFile, `"reference": 90`, `"reference": "90"`},
		{dialects.Unity, unityFile, `"reference": 3`, `"reference": "3"`},
		{dialects.Unity, unityFile, `"backfillEnabled": true`, `"backfillEnabled": "true"`},
		{dialects.PlayFab, playFabFile, `[true, false]`, `["true", "false"]`},
		{dialects.PlayFab, playFabFile, `"DefaultAttributeValue": ["a"]`, `"DefaultAttributeValue": "a"`},
		{dialects.PlayFab, strings.Replace(playFabFile, "[true, false]", "[true]", 1), "[true]", "true"},
		{dialects.AccelByte, accelByteFile, `"auto_backfill": true`, `"auto_backfill": "true"`},
		{dialects.AccelByte, accelByteFile, `"isForBalancing": true`, `"isForBalancing": "true"`},
		{dialects.AccelByte, accelByteFile, `[{"name": "map", "type": "any"}]`, `{"name": "map", "type": "any"}`},
		{dialects.AccelByte, accelByteFile, `"reference": 200`, `"reference": "200"`},
	} {
		other := strings.ReplaceAll(c.file, c.from, c.to)
		if other == c.file {
			t.Errorf("%s has no %s", c.language, c.from)
		}
		same(t, c.language, other, c.file)
	}
	const roles = `{"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1, "player_max_number": 2,
		"combination": {"has_combination": true, "alliances": [[{"name": "a", "min": 1, "max": 2}], %s]}}}`
	same(t, dialects.AccelByte, fmt.Sprintf(roles, `{"name": "b", "min": 1, "max": 2}`),
		fmt.Sprintf(roles, `[{"name": "b", "min": 1, "max": 2}]`))
}

// oneLine returns a file without its line breaks.
func oneLine(file string) string { return strings.Join(strings.Fields(file), " ") }

// Files may be what an API answers, as it is.
func TestAnswersOfAPIs(t *testing.T) {
	text := strconv.Quote(oneLine(flexFile))
	for _, c := range []struct{ language, file, around string }{
		{dialects.FlexMatch, flexFile, `{"RuleSets": [{"RuleSetName": "x", "RuleSetArn": "arn", "RuleSetBody": ` + text + `,
			"CreationTime": 1700000000.5}], "NextToken": "y"}`},
		{dialects.FlexMatch, flexFile, `{"RuleSet": {"RuleSetName": "x", "RuleSetBody": ` + text + `}}`},
		{dialects.FlexMatch, flexFile, `{"Name": "x", "RuleSetBody": {"Fn::Sub": [` + text + `, {"A": "b"}]}}`},
		{dialects.FlexMatch, flexFile, `{"Resources": {"Q": {"Type": "AWS::SNS::Topic"}, "R": {"Type":
			"AWS::GameLift::MatchmakingRuleSet", "Properties": {"Name": "x", "RuleSetBody": ` + text + `}}}}`},
		{dialects.Unity, unityFile, `[{"name": "q", "enabled": true, "maxPlayersPerTicket": 0, "filteredPools": [],
			"defaultPool": {"name": "l", "enabled": true, "timeoutSeconds": 0, "variants": [], "matchLogic": ` +
			unityFile + `}}]`},
		{dialects.PlayFab, playFabFile, `{"code": 200, "status": "OK", "data": {"MatchmakingQueue": ` + playFabFile + `}}`},
		{dialects.PlayFab, playFabFile, `{"code": 200, "status": "OK", "data": {"MatchMakingQueues": [` + playFabFile + `]}}`},
		{dialects.PlayFab, playFabFile, `{"MatchmakingQueue": ` + playFabFile + `}`},
		{dialects.AccelByte, accelByteFile, `{"data": ` + accelByteFile + `, "enable_custom_match_function": false,
			"name": ""}`},
		{dialects.AccelByte, accelByteFile, `{"data": [{"name": "", "data": ` + accelByteFile + `}],
			"pagination": {"first": "", "last": "", "next": "", "previous": ""}}`},
		{dialects.FlexMatch, flexFile, `{"Resources": {"R": {"Type": "AWS::GameLift::MatchmakingRuleSet", "Properties":
			{"Name": "x", "RuleSetBody": {"Fn::Join": ["", [` + strconv.Quote(oneLine(flexFile)[:50]) + `, ` +
			strconv.Quote(oneLine(flexFile)[50:]) + `]]}}}}}`},
		{dialects.FlexMatch, flexFile, `{"Resources": {"R": {"Type": "AWS::GameLift::MatchmakingRuleSet", "Properties":
			{"RuleSetBody": {"Fn::ToJsonString": ` + flexFile + `}}}}}`},
		{dialects.FlexMatch, flexFile, `{"resource": {"aws_gamelift_fleet": {}, "awscc_gamelift_matchmaking_rule_set": {"x":
			{"name": "x", "rule_set_body": ` + text + `}}}}`},
		{dialects.FlexMatch, flexFile, `{"values": {"root_module": {"resources": [{"type": "a", "values": {}}, {"type": "b",
			"values": {"name": "x", "rule_set_body": ` + text + `}}]}}}`},
		{dialects.FlexMatch, flexFile, `{"ResultMetadata": {}, "RuleSets": [{"RuleSetBody": ` +
			strconv.Quote("\ufeff"+oneLine(flexFile)) + `}]}`},
		{dialects.FlexMatch, flexFile, text},
		{dialects.FlexMatch, flexFile, `[` + text + `]`},
		{dialects.FlexMatch, flexFile, strconv.Quote(text)},
		{dialects.Unity, unityFile, `{"Result": ` + unityFile + `, "Messages": []}`},
		{dialects.Unity, unityFile, `{"results": [` + strconv.Quote(oneLine(unityFile)) + `], "total": 1}`},
		{dialects.Unity, unityFile, `{"value": {"queue": ` + strconv.Quote(oneLine(unityFile)) + `}}`},
		{dialects.PlayFab, playFabFile, `{"Error": null, "Result": {"MatchmakingQueue": ` + playFabFile + `, "Request": {}}}`},
		{dialects.PlayFab, playFabFile, `{"code": 200, "CallBackTimeMS": 9, "data": {"MatchmakingQueue": ` +
			strconv.Quote(oneLine(playFabFile)) + `}}`},
		{dialects.PlayFab, playFabFile, `[` + playFabFile + `]`},
		{dialects.AccelByte, accelByteFile, `{"statusCode": 200, "content": {"data": ` + accelByteFile + `, "name": ""}}`},
		{dialects.AccelByte, accelByteFile, `{"ruleset": ` + strconv.Quote(oneLine(accelByteFile)) + `}`},
		{dialects.AccelByte, accelByteFile, `{"match_pool": "x", "match_ruleset": ` + accelByteFile + `}`},
		{dialects.AccelByte, accelByteFile, strings.Replace(accelByteFile, "{", `{"sort_ticket": {"search_result": ""},
			"ticket_flexing_selection": "", "sub_game_modes": {}, "bucket_mmr_rule": {"disable": false}, `, 1)},
	} {
		same(t, c.language, c.around, c.file)
		if got := dialects.Guess([]byte(c.around)); got != c.language {
			t.Errorf("%s: %q is guessed of %s", c.language, got, c.around)
		}
	}
	for language, file := range files {
		units := utf16.Encode([]rune("\ufeff" + file))
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			var text []byte
			for _, unit := range units {
				text = order.AppendUint16(text, unit)
			}
			same(t, language, string(text), file)
			if got := dialects.Guess(text); got != language {
				t.Errorf("%q is guessed of UTF-16 of %s", got, language)
			}
		}
	}
	same(t, dialects.AccelByte, `{"name": "", "rule_set": `+strconv.Quote(oneLine(accelByteFile))+`}`, accelByteFile)
	same(t, dialects.PlayFab, `{"data": {"MatchmakingQueue": `+strconv.Quote(oneLine(playFabFile))+`}}`, playFabFile)
	for _, c := range []struct{ language, text, want string }{
		{dialects.FlexMatch, `{"RuleSets": [{"RuleSetName": "a"}, {"RuleSetName": "b"}]}`, `keep one of "a", "b"`},
		{dialects.FlexMatch, `{"Resources": {}}`, "there is no resource of the type AWS::GameLift::MatchmakingRuleSet"},
		{dialects.Unity, `[{"name": "a"}, {"name": "b"}]`, `keep one of "a", "b"`},
		{dialects.PlayFab, `{"data": {"MatchMakingQueues": [{"Name": "a"}, {"Name": "b"}]}}`, `keep one of "a", "b"`},
		{dialects.PlayFab, `{"MatchmakingQueue": {"MinMatchSize": 2}, "MaxMatchSize": 2}`, `"MaxMatchSize" is not known here`},
		{dialects.AccelByte, `{"data": [{"name": "a"}, {"name": "b"}]}`, `keep one of "a", "b"`},
		{dialects.FlexMatch, `{"a": {"RuleSetBody": ""}, "b": [{"RuleSetBody": ""}]}`, `there are 2 here, and one is expected`},
		{dialects.FlexMatch, `{"Resources": {"R": {"Type": "AWS::GameLift::MatchmakingRuleSet", "Properties": {"RuleSetBody":
			{"Fn::Join": ["", ["{", {"Ref": "X"}]]}}}}}`, "Fn::Join has a reference to another resource"},
		{dialects.FlexMatch, `{"RuleSetBody": {"Fn::Join": ""}}`, "a separator and a list of texts are expected"},
		{dialects.FlexMatch, `{"RuleSetBody": "{"}`, "RuleSetBody: in the text: line 1, column 2"},
		{dialects.AccelByte, `{"data": {}, "flexing_rule": []}`, `"flexing_rule" is not known here`},
		{dialects.AccelByte, `{"data": {}, "matching_rule": []}`, `"matching_rule" is not known here`},
	} {
		if _, err := dialects.Import(c.language, []byte(c.text), ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

// Only the pool that is asked for must be right.
func TestOtherPoolsOfUnityMayBeWrong(t *testing.T) {
	const pool = `{"name": %q, "matchLogic": {"name": "l", "matchDefinition": {"teams": [%s], "matchRules": []}}}`
	queue := fmt.Sprintf(`{"name": "q", "defaultPool": %s, "filteredPools": [%s, %s]}`, fmt.Sprintf(pool, "def", ""),
		fmt.Sprintf(pool, "ranked", `{"name": "t", "playerCount": {"min": 2, "max": 4}}`),
		`{"name": "odd", "filters": 3, "matchLogic": [1]}`)
	for name, want := range map[string]string{
		"ranked": "", "": `defaultPool.matchLogic.matchDefinition: "teams" is missing`, "odd": "filteredPools[1].",
		"other": `the queue has no pool "other", only def, ranked, odd`,
	} {
		result, err := dialects.Import(dialects.Unity, []byte(queue), name)
		if want == "" && (err != nil || result.Rules.Name != "ranked") ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// An import takes what our language has room for.
func TestLimitsAreOurs(t *testing.T) {
	list := func(n int, of string) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	alliance := func(n int) string {
		return fmt.Sprintf(`{"alliance": {"min_number": %d, "max_number": %[1]d, "player_min_number": 1,
			"player_max_number": 1}}`, n)
	}
	flexTeams := func(n int) string {
		return fmt.Sprintf(`{"ruleLanguageVersion": "1.0", "teams": [{"name": "t", "minPlayers": 1, "maxPlayers": 1,
			"quantity": %d}]}`, n)
	}
	unityTeams := func(n int) string {
		return fmt.Sprintf(`{"matchDefinition": {"teams": [{"name": "t", "teamCount": {"min": %d, "max": %[1]d},
			"playerCount": {"min": 1, "max": 1}}]}}`, n)
	}
	var teams []string
	for i := range rules.MaxTeams {
		teams = append(teams, fmt.Sprintf(`{"Name": "t%d", "MinTeamSize": 1, "MaxTeamSize": 1}`, i))
	}
	playFabTeams := func(more string) string {
		return `{"MinMatchSize": 200, "MaxMatchSize": 200, "Teams": [` + strings.Join(teams, ",") + more + `]}`
	}
	set := func(n int) string {
		return `{"MinMatchSize": 2, "MaxMatchSize": 2, "Rules": [{"Type": "SetIntersectionRule", "Attribute": {"Path": "m"},
			"MinIntersectionSize": 1, "DefaultAttributeValue": [` + list(n, `"a"`) + `]}]}`
	}
	for _, c := range []struct{ language, most, more string }{
		{dialects.AccelByte, alliance(rules.MaxTeams), alliance(rules.MaxTeams + 1)},
		{dialects.FlexMatch, flexTeams(rules.MaxTeams), flexTeams(rules.MaxTeams + 1)},
		{dialects.Unity, unityTeams(rules.MaxTeams), unityTeams(rules.MaxTeams + 1)},
		{dialects.PlayFab, playFabTeams(""), playFabTeams(`, {"Name": "x", "MinTeamSize": 1, "MaxTeamSize": 1}`)},
		{dialects.PlayFab, set(rules.MaxElements), set(rules.MaxElements + 1)},
	} {
		result, err := dialects.Import(c.language, []byte(c.most), "")
		if err != nil {
			t.Errorf("%s: %v", c.language, err)
		} else {
			try(t, result, nil)
		}
		if _, err := dialects.Import(c.language, []byte(c.more), ""); err == nil {
			t.Errorf("%s: one more is taken", c.language)
		}
	}
}

// FlexMatch takes no player without a declared attribute that has no default, whichever rule reads it.
func TestFlexMatchAttributesThatNoRuleReadsAreNeeded(t *testing.T) {
	for kind, value := range map[string]any{"number": 1.0, "string": "a", "string_list": []string{"a"},
		"string_number_map": map[string]float64{"a": 1}} {
		for _, more := range []string{"", `, "algorithm": {"strategy": "balanced", "balancedAttribute": "skill"}`} {
			result, err := dialects.Import(dialects.FlexMatch, []byte(`{"ruleLanguageVersion": "1.0", "playerAttributes": [
				{"name": "x", "type": "`+kind+`"}, {"name": "skill", "type": "number", "default": 1}],
				"teams": [{"name": "t", "minPlayers": 2, "maxPlayers": 2}]`+more+`}`), "")
			if err != nil {
				t.Fatal(err)
			}
			try(t, result, nil)
			if l := lineOf(t, result, "x"); l.Verdict != translation.Exact {
				t.Error(l)
			}
			if match(result, judge.Player{"x": value}, judge.Player{}) {
				t.Errorf("%s: a player without it matches", kind)
			}
			if !match(result, judge.Player{"x": value}, judge.Player{"x": value}) {
				t.Errorf("%s: players with it do not match", kind)
			}
		}
	}
}

func TestFlexMatchCollectionsWithoutCountsNeedOne(t *testing.T) {
	for operation, both := range map[string]bool{
		`"intersection"`:                                          false,
		`"contains", "referenceValue": "a"`:                       true,
		`"reference_intersection_count", "referenceValue": ["a"]`: false,
	} {
		result, err := dialects.Import(dialects.FlexMatch, []byte(`{"ruleLanguageVersion": "1.0", "playerAttributes": [
			{"name": "x", "type": "string_list"}], "teams": [{"name": "t", "minPlayers": 2, "maxPlayers": 2}], "rules": [
			{"name": "r", "type": "collection", "measurements": ["flatten(teams[*].players.attributes[x])"], "operation": `+
			operation+`}]}`), "")
		if err != nil {
			t.Errorf("%s: %v", operation, err)
			continue
		}
		l := lineOf(t, result, "r")
		if l.Verdict != translation.Stricter || !strings.Contains(l.Why, "at least one is needed") {
			t.Error(l)
		}
		a, b := judge.Player{"x": []string{"a"}}, judge.Player{"x": []string{"b"}}
		if !match(result, a, a) || match(result, a, b) != both || operation != `"intersection"` && match(result, b, b) {
			t.Errorf("%s: the matches are others", operation)
		}
	}
}

// What expands may become what no match can satisfy: that is said, with the part of the file.
func TestFileAfterWhichNoMatchIsPossible(t *testing.T) {
	const flex = `{"ruleLanguageVersion": "1.0", "playerAttributes": [{"name": "m", "type": "string_list"}],
		"teams": [{"name": "t", "minPlayers": 2, "maxPlayers": 4}], "rules": [{"name": "medics", "type": "collection",
			"operation": "contains", "referenceValue": "medic", "minCount": 1,
			"measurements": ["flatten(teams[*].players.attributes[m])"]}],
		"expansions": [{"target": "%s", "steps": [
			{"waitTimeSeconds": 10, "value": 3}, {"waitTimeSeconds": 30, "value": 9}%s]}]}`
	const unity = `{"matchDefinition": {"teams": [{"name": "t", "playerCount": {"min": 2, "max": 4, "relaxations": [
		{"type": "RangeControl.ReplaceMin", "atSeconds": 30, "value": 9}]}}]}}`
	const playFab = `{"MinMatchSize": 2, "MaxMatchSize": 2, "Rules": [{"Type": "MatchTotalRule", "Name": "m", "Attribute":
		{"Path": "x"}, "Min": 1, "Max": 3, "Expansion": {"MinOverrides": [1, 9], "SecondsBetweenExpansions": 30}}]}`
	const later = "where all tickets have waited 30 s no match is possible"
	for _, c := range []struct{ language, text, want string }{
		{dialects.FlexMatch, fmt.Sprintf(flex, "teams[t].minPlayers", ""), `teams[0] "t": note: ` + later},
		{dialects.FlexMatch, fmt.Sprintf(flex, "rules[medics].minCount", ""), `rules[0] "medics": note: ` + later},
		{dialects.FlexMatch, fmt.Sprintf(flex, "rules[medics].minCount", `, {"waitTimeSeconds": 60, "value": 1}`), ""},
		{dialects.Unity, unity, `teams[0] "t": note: ` + later},
		{dialects.Unity, strings.Replace(unity, "9", "1", 1), ""},
		{dialects.PlayFab, playFab, `Rules[0] "m": note: ` + later},
		{dialects.PlayFab, strings.Replace(playFab, "9", "0", 1), ""},
	} {
		result, err := dialects.Import(c.language, []byte(c.text), "")
		if err != nil {
			t.Errorf("%s: %v", c.language, err)
			continue
		}
		said := ""
		for _, l := range result.Lines {
			if strings.Contains(l.Why, "no match is possible") {
				said = l.String()
			}
		}
		if c.want == "" && said != "" || !strings.Contains(said, c.want) {
			t.Errorf("%s: it is said %q, want %q", c.text, said, c.want)
		}
	}
}

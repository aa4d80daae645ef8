package dialects_test

import (
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
)

// What no match can satisfy is refused with the line and the name of the rule in the user's own file.
func TestWhatNothingCanMatchIsNamedAsInTheFile(t *testing.T) {
	for _, of := range []struct{ language, text, want string }{
		{dialects.PlayFab, `{"Name": "q", "MinMatchSize": 2, "MaxMatchSize": 2, "Rules": [
			{"Type": "StringEqualityRule", "Name": "s", "Attribute": {"Path": "build"}},
			{"Type": "MatchTotalRule", "Name": "m", "Attribute": {"Path": "one"}, "Min": 5, "Max": 4}]}`,
			`line 3, Rules[1] "m": as our rule, at sum: min is greater than max, whatever the time: nothing can match`},
		{dialects.PlayFab, `{"Name": "q", "MinMatchSize": 5, "MaxMatchSize": 7, "Teams": [
			{"Name": "a", "MinTeamSize": 1, "MaxTeamSize": 2}, {"Name": "b", "MinTeamSize": 4, "MaxTeamSize": 5}],
			"TeamSizeBalanceRule": {"Name": "even", "Difference": 1}}`,
			`line 3, TeamSizeBalanceRule "even": as our rule, at max: ` +
				`the sizes of the teams differ by at least 2, and at most 1 is allowed: nothing can match`},
		{dialects.FlexMatch, `{"ruleLanguageVersion": "1.0", "playerAttributes": [{"name": "c", "type": "string_list"}],
			"teams": [{"name": "red", "minPlayers": 1, "maxPlayers": 2}],
			"rules": [
				{"name": "medics", "type": "collection", "operation": "contains", "referenceValue": "medic", "minCount": 5,
					"measurements": ["flatten(teams[*].players.attributes[c])"]}]}`,
			`line 4, rules[0] "medics": as our rule, at count: ` +
				`min is never less than 5, and there are at most 2: nothing can match`},
	} {
		_, err := dialects.Import(of.language, []byte(of.text), "")
		if err == nil || err.Error() != of.want {
			t.Errorf("%s: the error is %v, and should be %s", of.language, err, of.want)
		}
	}
}

// A part of a rule that decides nothing is no reason to refuse a file.
func TestBranchOfACompoundRuleMayBeImpossible(t *testing.T) {
	_, err := dialects.Import(dialects.FlexMatch, []byte(`{"ruleLanguageVersion": "1.0", "playerAttributes": [
			{"name": "modes", "type": "string_list"}, {"name": "skill", "type": "number"}],
		"teams": [{"name": "red", "minPlayers": 1, "maxPlayers": 4}],
		"rules": [{"name": "A", "type": "collection", "operation": "reference_intersection_count",
				"measurements": ["flatten(teams[*].players.attributes[modes])"], "referenceValue": ["x"], "minCount": 2},
			{"name": "B", "type": "distance", "measurements": ["max(flatten(teams[*].players.attributes[skill]))"],
				"referenceValue": "min(flatten(teams[*].players.attributes[skill]))", "maxDistance": 10},
			{"name": "C", "type": "compound", "statement": "or(A,B)"}]}`), "")
	if err != nil {
		t.Error(err)
	}
}

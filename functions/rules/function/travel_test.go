package function

import (
	"testing"

	"matchmaker.dev/pkg/matchfn/fake"
)

// What rule sets of other languages ask for comes from the properties of players and from their ids.
func TestImportedRulesReadWhatPlayersHave(t *testing.T) {
	const teams = `{"flexmatch": {"ruleLanguageVersion": "1.0", "teams": [{"name": "all", "minPlayers": 2, "maxPlayers": 2}],
		"playerAttributes": [{"name": "foes", "type": "string_list", "default": []}], `
	for name, c := range map[string]struct {
		settings string
		a, b     map[string]string
		none     bool
	}{
		"blocked": {`{"accelbyte": {"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1,
			"player_max_number": 1}, "blocked_player_option": "blockedPlayerCannotMatch"}}`,
			map[string]string{"blocked": `["b"]`}, nil, true},
		"options": {`{"accelbyte": {"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1,
			"player_max_number": 1}, "match_options": {"options": [{"name": "mode", "type": "all"}]}}}`,
			map[string]string{"mode": `"x"`}, map[string]string{"mode": `"x"`}, false},
		"cross play": {`{"accelbyte": {"data": {"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1,
			"player_max_number": 1}, "match_options": {"options": [{"name": "cross_platform", "type": "any"}]}}}}`,
			map[string]string{"cross_platform": `["PC"]`, "current_platform": `"PC"`},
			map[string]string{"cross_platform": `["PC"]`, "current_platform": `"PC"`}, false},
		"roles": {`{"accelbyte": {"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1,
			"player_max_number": 1, "combination": {"has_combination": true, "alliances": [[
			{"name": "any", "min": 1, "max": 1}]]}}}}`,
			map[string]string{"role": `["any"]`}, map[string]string{"role": `["any"]`}, false},
		"rules in the alliance": {`{"accelbyte": {"alliance": {"min_number": 2, "max_number": 2, "player_min_number": 1,
			"player_max_number": 1, "matching_rule": [{"attribute": "mmr", "criteria": "distance", "reference": 9}]}}}`,
			map[string]string{"mmr": `5`}, map[string]string{"mmr": `6`}, false},
		"ids": {teams + `"rules": [{"name": "block", "type": "collection", "operation": "reference_intersection_count",
			"measurements": "flatten(teams[*].players.attributes[foes])", "maxCount": 0,
			"referenceValue": "flatten(teams[*].players[playerId])"}]}}`, nil, nil, false},
	} {
		ticket := func(id string, has map[string]string) fake.Ticket {
			p := fake.Player{ID: id, Properties: map[string][]byte{}}
			for name, value := range has {
				p.Properties[name] = []byte(value)
			}
			return fake.Ticket{Players: []fake.Player{p}}
		}
		got := run(t, translated(t, c.settings), []fake.Ticket{ticket("a", c.a), ticket("b", c.b)})
		if (len(got) == 0) != c.none {
			t.Errorf("%s: %d matches", name, len(got))
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/rules"
)

const ruleSet = `{
  "ruleLanguageVersion": "1.0", // as real files have it
  "playerAttributes": [{"name": "skill", "type": "number"}],
  "teams": [{"name": "a", "minPlayers": 2, "maxPlayers": "2"}],
  "rules": [%RULE%]
}`

func writeRules(t *testing.T, rule string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ruleset.json")
	if err := os.WriteFile(path, []byte(strings.Replace(ruleSet, "%RULE%", rule, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRulesImport(t *testing.T) {
	shell := newShell(t)
	exact := writeRules(t, `{"name": "near", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 5}`)
	r := shell.run("rules", "import", "flexmatch", exact)
	r.expect(0, `"spread": "skill"`, `mm: line 5, rules[0] "near": exact`)
	if _, err := rules.Parse([]byte(r.out)); err != nil {
		t.Errorf("stdout is no rule set: %v", err)
	}
	refused := writeRules(t, `{"name": "near", "type": "comparison", "operation": "!=",
    "measurements": "max(teams[*].players.attributes[skill])"}`)
	shell.run("rules", "import", "flexmatch", refused).expect(1, "", `rules[0] "near": refused: `)
	shell.run("rules", "import", "flexmatch", refused, "--partly").expect(0, `"teams"`, `rules[0] "near": refused: `)

	r = shell.run("rules", "import", "flexmatch", exact, "-o", "json")
	var got struct {
		Rules    json.RawMessage
		Verdicts []struct{ Place, Name, Verdict string }
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 {
		t.Fatal(r.code, err, r.out)
	}
	if _, err := rules.Parse(got.Rules); err != nil || len(got.Verdicts) != 2 || got.Verdicts[1].Verdict != "exact" {
		t.Errorf("%v, %+v", err, got.Verdicts)
	}
	shell.run("rules", "import", "flexmatch", exact, "--pool", "p").expect(1, "", "only files of unity have pools")
	shell.run("rules", "import", "nakama", exact).expect(2, "", "flexmatch")
	shell.run("rules", "import", "flexmatch", filepath.Join(t.TempDir(), "none")).expect(1, "", "mm: open ")
	wrong := writeRules(t, `{}`)
	shell.run("rules", "import", "flexmatch", wrong).expect(1, "", `rules[0]: "name" is missing`)
}

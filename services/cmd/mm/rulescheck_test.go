package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRulesCheck(t *testing.T) {
	shell := newShell(t)
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "rules.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write(`{"numbers": ["skill"], "teams": [{"name": "side", "copies": 2, "size": 5}],
  "rules": [{"name": "near", "spread": "skill", "max": {"start": 100, "steps": [[30, null]]}}]}`)
	const near = `near: "skill" of any two players of the match differs by at most 100 (from 30 s on no bound, by the age of ` +
		`the oldest ticket)`
	shell.run("rules", "check", good).expect(0, near, "")
	shell.run("rules", "check", good, "--pool", "p").expect(2, "", "only files of unity have pools")
	shell.run("rules", "check", filepath.Join(t.TempDir(), "none")).expect(2, "", "mm: open ")

	r := shell.run("rules", "check", good, "-o", "json")
	var got struct {
		Sections []struct {
			Title string
			Lines []string
		}
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != 0 {
		t.Fatal(r.code, err, r.out)
	}
	if len(got.Sections) != 3 || got.Sections[2].Lines[0] != near {
		t.Errorf("%+v", got.Sections)
	}

	for text, want := range map[string]string{
		`{"teams": [{"name": "a", "size": 2, "roles": {"tank": 3}}]}`: "line 1, column 46: teams[0].roles: need 3 players",
		`{"teams": []`:                    "line 1, column 13",
		`{"matchmaking": {"config": {}}}`: "this is a config: give the rules alone",
		`{"teams": [{"name": "a", "size": 2}], "players": {"min": 5}}`: "players: the teams have 2 to 2 players: nothing can",
	} {
		shell.run("rules", "check", write(text)).expect(1, "", want)
	}

	shell.run("rules", "check", write(`{"teams": [`+strings.Repeat(`{"name": "a", "size": 1},`, 40_000))).expect(1, "",
		"the file has more than 524290 bytes")
	exact := writeRules(t, `{"name": "near", "type": "batchDistance", "batchAttribute": "skill", "maxDistance": 5}`)
	shell.run("rules", "check", exact, "--language", "flexmatch").expect(0, `"skill" of any two players`,
		`rules[0] "near": exact`)
	shell.run("rules", "check", exact).expect(1, "", "try --language flexmatch")
	wrap := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return write(`{"flexmatch": ` + strings.Replace(string(text), "// as real files have it", "", 1) + `}`)
	}
	shell.run("rules", "check", wrap(exact)).expect(0, `"skill" of any two players`, `flexmatch.rules[0] "near": exact`)
	refused := writeRules(t, `{"name": "near", "type": "comparison", "operation": "!=",
    "measurements": "max(teams[*].players.attributes[skill])"}`)
	r = shell.run("rules", "check", refused, "--language", "flexmatch")
	shell.run("rules", "check", wrap(refused)).expect(1, `a team "a"`, "not explained, as refused: 1 rule of the file")
	if r.expect(1, `a team "a"`, "not explained, as refused: 1 rule of the file"); strings.Contains(r.out, "near") {
		t.Errorf("a refused rule is explained: %s", r.out)
	}
}

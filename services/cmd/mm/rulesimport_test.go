package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"matchmaker.dev/pkg/matchfn/dialects"
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
	shell.run("rules", "import", "flexmatch", exact, "--pool", "p").expect(2, "", "only files of unity have pools")
	shell.run("rules", "import", "nakama", exact).expect(2, "", "flexmatch")
	shell.run("rules", "import", "flexmatch", filepath.Join(t.TempDir(), "none")).expect(2, "", "mm: open ")
	wrong := writeRules(t, `{}`)
	shell.run("rules", "import", "flexmatch", wrong).expect(1, "", `rules[0]: "name" is missing`)
}

// Templates in other languages than JSON are told from rule sets that are wrong, by each command that reads rules.
func TestTemplatesAreNoJSON(t *testing.T) {
	shell := newShell(t)
	for begin, rest := range map[string]string{
		"resource":                  ` "aws_gamelift_matchmaking_rule_set" "x" { rule_set_body = "{}" }`,
		"terraform":                 " {}", // not the word true
		"#":                         " rules\nlocals {}",
		"AWSTemplateFormatVersion:": " '2010-09-09'\nResources: {}",
		"---":                       "\nrules: []",
		"-":                         " teams: []",
		"matchHosting:":             " null",
	} {
		file := write(t, "rules.tf", begin+rest)
		want := fmt.Sprintf("mm: %s: line 1, column 1: JSON is expected, and the text begins with %q", file, begin)
		template := want + ": of a template in YAML or HCL, only the JSON in it is read"
		for _, language := range dialects.Languages() {
			shell.run("rules", "import", language, file).expect(1, "", template)
			shell.run("rules", "check", "--language", language, file).expect(1, "", template)
		}
		shell.run("rules", "check", file).expect(1, "", want)
		text := write(t, "rules.json", `{"flexmatch": `+strconv.Quote(begin+rest)+`}`)
		shell.run("rules", "check", text).expect(1, "", `flexmatch: line 1, column 1: JSON is expected, and the text begins with "`+begin)
		shell.on(newService(t), "config", "put", "a", file).expect(1, "", "not JSON: ")
	}
}

// Files are what editors and shells make of them: with byte order marks, and in UTF-16.
func TestFilesWithByteOrderMarks(t *testing.T) {
	encode := func(order binary.AppendByteOrder, text string) (file []byte) {
		for _, unit := range utf16.Encode([]rune(text)) {
			file = order.AppendUint16(file, unit)
		}
		return file
	}
	shell, dir := newShell(t), t.TempDir()
	for name, encoded := range map[string]func(string) []byte{
		"utf-8":                 func(text string) []byte { return []byte("\ufeff" + text) },
		"little":                func(text string) []byte { return encode(binary.LittleEndian, "\ufeff"+text) },
		"big":                   func(text string) []byte { return encode(binary.BigEndian, "\ufeff"+text) },
		"little without a mark": func(text string) []byte { return encode(binary.LittleEndian, text) },
		"big without a mark":    func(text string) []byte { return encode(binary.BigEndian, text) },
	} {
		write := func(text string) string {
			file := filepath.Join(dir, name+".json")
			if err := os.WriteFile(file, encoded(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
		flex := write(strings.Replace(ruleSet, "%RULE%", "", 1))
		shell.run("rules", "import", "flexmatch", flex).expect(0, `"teams"`, "exact")
		shell.run("rules", "check", flex, "--language", "flexmatch").expect(0, "A match", "exact")
		shell.run("rules", "check", write(`{"teams": [{"name": "a", "size": 2}]}`)).expect(0, "A match", "")
		if text, err := new(session).readJSON(write(`{"a": 1}`)); err != nil || string(text) != `{"a": 1}` {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		contents, err := (&game{Players: write(`[{"id": "a"}]`)}).ProvideContents()
		if err != nil || len(contents.Players) != 1 {
			t.Errorf("%s: %v, %v", name, contents, err)
		}
		of, err := (playerFlags{Players: write(`[{"id": "a"}, {"id": "b"}]`)}).players()
		if err != nil || len(of) != 2 {
			t.Errorf("%s: %v, %v", name, of, err)
		}
	}
	file := filepath.Join(dir, "utf-32.json")
	if err := os.WriteFile(file, []byte("\xff\xfe\x00\x00{\x00\x00\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell.run("rules", "check", file).expect(1, "", "it is UTF-32: save it as UTF-8")
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/rules"
)

// configOf is a config with settings.
func configOf(settings string) string {
	return `{"matchmaking": {"targetFunction": {"name": "rules"}, "config": ` + settings + `}}`
}

// A config with the rules of another matchmaker is stored with what "mm rules import" makes of them, and with the
// original: each published example, as the text of its file.
func TestConfigsWithExamplesAreTranslated(t *testing.T) {
	shell, service := newShell(t), newService(t)
	stored := 0
	for _, language := range dialects.Languages() {
		files, err := filepath.Glob("../../../pkg/matchfn/dialects/testdata/" + language + "/*.json")
		if err != nil || len(files) == 0 {
			t.Fatal(language, err)
		}
		for i, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			quoted, err := json.Marshal(string(text))
			if err != nil {
				t.Fatal(err)
			}
			id := fmt.Sprintf("%s-%d", language, i)
			config := write(t, "config.json", configOf(fmt.Sprintf(`{%q: %s}`, language, quoted)))
			imported := shell.run("rules", "import", language, file)
			put := shell.on(service, "config", "put", id, config)
			verdicts := strings.TrimSuffix(imported.err, lastLine(imported.err))
			if put.code != imported.code || !strings.HasPrefix(put.err, verdicts) {
				t.Errorf("%s: put says %d, %s\nimport %d, %s", file, put.code, put.err, imported.code, imported.err)
			}
			if imported.code != 0 {
				if service.configs[id] != "" {
					t.Errorf("%s is stored, and refused", file)
				}
				continue
			}
			stored++
			var of struct {
				Matchmaking struct{ Config json.RawMessage }
			}
			if err := json.Unmarshal([]byte(service.configs[id]), &of); err != nil {
				t.Fatalf("%s: %v, %s", file, err, service.configs[id])
			}
			ours, err := rules.Parse(of.Matchmaking.Config)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if ours.Source == nil || ours.Source.Document != string(text) || ours.Source.Language != language {
				t.Errorf("%s: the original is %+v", file, ours.Source)
			}
			if ours.Source = nil; string(rules.Write(ours)) != imported.out {
				t.Errorf("%s: the config has\n%s\nand the import\n%s", file, rules.Write(ours), imported.out)
			}
		}
	}
	if stored < 20 {
		t.Errorf("only %d are stored", stored)
	}
}

func lastLine(text string) string {
	return text[strings.LastIndexByte(strings.TrimSuffix(text, "\n"), '\n')+1:]
}

// The rules of another matchmaker may be an object, or the settings themselves. What is no such file stays as it is.
func TestConfigTranslatesSettings(t *testing.T) {
	shell, service := newShell(t), newService(t)
	const flex = `{"ruleLanguageVersion": "1.0",
  "teams": [{"name": "a", "minPlayers": 2, "maxPlayers": 2}]}`
	const pool = `{"name": "%s", "matchLogic": {"name": "l", "matchDefinition": {"teams": [{"name": "%s", "playerCount":
		{"min": 1, "max": 4}}]}}}`
	unity := `{"unity": {"name": "q", "filteredPools": [` + fmt.Sprintf(pool, "one", "red") + "," +
		fmt.Sprintf(pool, "two", "blue") + `]}, "pool": "two"}`
	const head = "{\n\"matchmaking\": {\"name\": \"é\", \"targetFunction\": {\"name\": \"rules\"}, \"config\": "
	const tail = "},\n\"pools\": {}}"
	for settings, want := range map[string]string{
		`{"flexmatch": ` + flex + `}`: `"name": "a"`, flex: `"name": "a"`, unity: `"name": "blue"`,
	} {
		file := write(t, "ranked.json", head+settings+tail)
		shell.on(service, "config", "put", "ranked", file).expect(0, "config  ranked\n", ": exact\n")
		got := service.configs["ranked"]
		if !strings.Contains(got, want) || !strings.HasPrefix(got, head+"{\n") || !strings.HasSuffix(got, "\n}"+tail) {
			t.Errorf("stored %s", got)
		}
	}
	file := write(t, "ranked.json", "\n"+configOf("\n{\"flexmatch\": "+flex+"}"))
	shell.on(service, "config", "create", file).expect(0, "config", `line 4, matchmaking.config.flexmatch.teams[0] "a": exact`)
	shell.on(service, "config", "put", "ranked", file).expect(0, "ranked", "exact")
	shell.on(service, "config", "get", "ranked", "--source").expect(0, flex, "")
	got := shell.on(service, "config", "get", "ranked")
	if got.expect(0, "source    flexmatch\n", ""); strings.Contains(got.out, "ruleLanguageVersion") {
		t.Errorf("the table has the original: %s", got.out)
	}
	shell.on(service, "config", "diff", "ranked", file).expect(0, "", "nothing differs")
	stored := service.configs["ranked"]
	for _, flag := range []string{"--as-is", ""} {
		text := configOf(`{"teamSize": 2, "flex": "match"}`)
		if flag != "" {
			text = configOf(flex)
		}
		shell.in = text
		shell.on(service, strings.Fields("config put own - "+flag)...).expect(0, "own", "")
		if service.configs["own"] != text {
			t.Errorf("%s is sent as %s", text, service.configs["own"])
		}
	}
	shell.on(service, "config", "get", "own", "--source").expect(1, "", "config own keeps no file of another matchmaker")

	refused := write(t, "refused.json", configOf(`{"flexmatch": {"ruleLanguageVersion": "1.0",
		"teams": [{"name": "a", "minPlayers": 2, "maxPlayers": 2}], "playerAttributes": [{"name": "skill", "type": "number"}],
		"rules": [{"name": "near", "type": "comparison", "operation": "!=",
			"measurements": "max(teams[*].players.attributes[skill])"}]}}`))
	for _, command := range []string{"config put ranked", "config create", "config check", "config diff ranked"} {
		shell.on(service, append(strings.Fields(command), refused)...).expect(1, "", "--partly takes the others")
	}
	wrong := write(t, "wrong.json", configOf(`{"playfab": {"MinMatchSize": 1}}`))
	shell.on(service, "config", "put", "ranked", wrong).expect(1, "", `matchmaking.config.playfab: "MaxMatchSize" is missing`)
	if service.configs["ranked"] != stored {
		t.Errorf("what is refused is stored: %s", service.configs["ranked"])
	}
	shell.on(service, "config", "put", "ranked", refused, "--partly").expect(0, "ranked", `rules[0] "near": refused`)

	large := write(t, "large.json", configOf(`{"flexmatch": `+flex+strings.Repeat(" ", maxConfig)+`}`))
	shell.on(service, "config", "put", "ranked", large).expect(0, "ranked", "exact")
	text, err := json.Marshal(flex + strings.Repeat(" ", maxConfig))
	if err != nil {
		t.Fatal(err)
	}
	large = write(t, "large.json", configOf(`{"flexmatch": `+string(text)+`}`))
	shell.on(service, "config", "put", "ranked", large).expect(0, "ranked", "too large with the original")
	if got := service.configs["ranked"]; len(got) > 1000 || !strings.Contains(got, `"source": {"language": "flexmatch"}`) {
		t.Errorf("stored %d bytes", len(got))
	}
}

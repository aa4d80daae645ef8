package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"matchmaker.dev/pkg/matchfn/rules"
)

// The schema that editors read takes the rule sets that the language takes, and refuses odds that it refuses.
func TestSchemaOfRules(t *testing.T) {
	const folder = "../../../pkg/matchfn/rules/"
	schema, err := jsonschema.NewCompiler().Compile(folder + "schema.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text []byte) error {
		t.Helper()
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(document)
	}
	files, err := filepath.Glob(folder + "testdata/*.json")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(text); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	const ruleSet = `{"numbers": ["skill", "sigma"], "teams": [{"name": "team", "copies": 2, "size": 1}],
		"rules": [{"compare": [%ODDS%, "<=", 0.6]}], "prefer": [{"high": %ODDS%}, {"low": {"abs": %ODDS%}}]}`
	for odds, want := range map[string]bool{
		`{"favorite": "skill", "deviation": "sigma", "beta": 4.17}`:              true,
		`{"quality": "skill", "deviation": "sigma", "beta": 4}`:                  true,
		`{"quality": "skill", "beta": 1e-9}`:                                     true,
		`{"favorite": "skill", "deviation": "sigma"}`:                            false,
		`{"quality": "skill", "beta": 0}`:                                        false,
		`{"quality": "skill", "beta": 1e101}`:                                    false,
		`{"quality": "skill", "beta": "4.17"}`:                                   false,
		`{"quality": "skill", "beta": {"start": 4, "steps": [[30, 5]]}}`:         false,
		`{"favorite": "skill", "quality": "skill", "beta": 4.17}`:                false,
		`{"favorite": "skill", "beta": 4.17, "in": "team"}`:                      false,
		`{"favorite": {"avg": "skill"}, "beta": 4.17}`:                           false,
		`{"favorite": "skill", "deviation": 8.33, "beta": 4.17}`:                 false,
		`{"favorite": "", "beta": 4.17}`:                                         false,
		`{"deviation": "sigma", "beta": 4.17}`:                                   false,
		`{"avg": "skill", "beta": 4.17}`:                                         false,
		`{"minus": [{"favorite": "skill", "beta": 4.17}, {"avg": "skill"}]}`:     true,
		`{"minus": [{"favorite": "skill", "sigma": "sigma"}, {"avg": "skill"}]}`: false,
	} {
		text := []byte(strings.ReplaceAll(ruleSet, "%ODDS%", odds))
		if err := valid(text); (err == nil) != want {
			t.Errorf("%s: the schema says %v", odds, err)
		}
		if _, err := rules.Parse(text); (err == nil) != want {
			t.Errorf("%s: the language says %v", odds, err)
		}
	}
}

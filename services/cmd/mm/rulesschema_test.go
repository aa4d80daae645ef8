package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/schema"
)

// validator compiles a schema, and returns what is wrong with a text by it.
func validator(t *testing.T, text string) func([]byte) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("file:///schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("file:///schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return compiled.Validate(document)
	}
}

// The schema that editors read and the language agree on these.
func TestSchemaOfRules(t *testing.T) {
	valid := validator(t, schema.Rules())
	const ruleSet = `{"numbers": ["skill", "sigma"], "values": {"mode": "string", "maps": "set", "id": "string"},
		"teams": [{"name": "team", "copies": 2, "size": 1}], `
	same := func(text string, want bool) {
		t.Helper()
		if err := valid([]byte(text)); (err == nil) != want {
			t.Errorf("%s: the schema says %v", text, err)
		}
		if _, err := rules.Parse([]byte(text)); (err == nil) != want {
			t.Errorf("%s: the language says %v", text, err)
		}
	}
	for rule, want := range map[string]bool{
		`{"spread": "skill", "max": 5}`: true,
		`{"name": "a", "spread": "skill", "max": 5, "active": {"start": true, "steps": [[9, false]]}}`: true,
		`{"spreed": "skill", "max": 5}`: false,
		`{"name": "a"}`:                 false,
		`{}`:                            false,
		`{"spread": "skill"}`:           false,
		`{"spread": "skill", "gap": "skill", "max": 5}`:                                    false,
		`{"spread": "skill", "max": -1}`:                                                   false,
		`{"spread": "skill", "max": {"start": 5, "grow": 1}}`:                              false,
		`{"spread": "skill", "max": {"start": 5, "until": 9}}`:                             false,
		`{"spread": "skill", "max": {"start": 5, "grow": 1, "until": 9, "clock": "each"}}`: true,
		`{"gap": "skill", "max": {"start": 5, "grow": 1, "until": 9, "clock": "each"}}`:    false,
		`{"gap": "skill", "max": 5, "in": "team"}`:                                         false,
		`{"same": "mode", "max": 5}`:                                                       false,
		`{"same": "mode", "in": "anchor"}`:                                                 true,
		`{"different": "mode", "in": "anchor"}`:                                            false,
		`{"overlap": "maps", "with": ["a"], "count": 1}`:                                   true,
		`{"overlap": "maps", "with": ["a"], "union": "maps", "count": 1}`:                  false,
		`{"overlap": "maps", "with": ["a"], "count": 1.5}`:                                 false,
		`{"holders": "maps", "count": 1}`:                                                  false,
		`{"any": []}`:                                                                      false,
		`{"any": [{"same": "mode", "name": "a"}]}`:                                         false,
		`{"not": {"same": "mode", "active": 1}}`:                                           false,
		`{"compare": [{"avg": "skill", "sum": "skill"}, "<", 1]}`:                          false,
		`{"compare": [{"avg": "skill", "in": "team"}, "<", 1]}`:                            true,
		`{"compare": [{"avg": {"each": "skill"}, "in": "team"}, "<", 1]}`:                  false,
		`{"compare": [{"each": {"avg": "skill"}}, "<", 1]}`:                                false,
		`{"compare": [{"tickets": "skill"}, "<", 1]}`:                                      false,
		`{"compare": [{"average": "skill"}, "<", 1]}`:                                      false,
		`{"compare": [1, "<"]}`:                                                            false,
	} {
		same(ruleSet+`"rules": [`+rule+`]}`, want)
	}
	for members, want := range map[string]bool{
		`"$schema": "rules.schema.json"`:                                        true,
		`"$schema": 5`:                                                          false,
		`"prefer": [{"low": {"avg": "skill"}, "weight": 2}]`:                    true,
		`"prefer": [{"weight": 2}]`:                                             false,
		`"prefer": [{"low": 1, "high": 2}]`:                                     false,
		`"prefer": [{"need": {"same": "mode", "name": "a"}}]`:                   false,
		`"order": [{"by": "skill"}]`:                                            true,
		`"order": [{"by": "skill", "near": "skill"}]`:                           false,
		`"order": [{"descending": true}]`:                                       false,
		`"players": 2.5`:                                                        false,
		`"players": {"min": {"start": 1, "steps": [[1, 1.5], [2, 2]]}}`:         false,
		`"players": 1001`:                                                       false,
		`"backfill": {"active": {"start": true, "clock": "mean"}}`:              false,
		`"backfill": {"open": {"start": 0, "steps": [[1, 1.5], [2, 2]]}}`:       false,
		`"roles": {"max": {"start": 0, "steps": [[20, 1]], "clock": "oldest"}}`: false,
	} {
		same(ruleSet+members+"}", want)
	}
	for value, want := range map[string]bool{
		`{"party": "max", "once": true}`:          true,
		`{"once": true}`:                          false,
		`{"party": "union"}`:                      false,
		`{"type": "set", "party": "union"}`:       true,
		`{"default": "a"}`:                        false,
		`{"type": "string", "default": "a"}`:      true,
		`{"default": 1, "missing": "any"}`:        false,
		`{"type": "map", "default": {"eu": "a"}}`: false,
		`"text"`: false,
	} {
		same(`{"teams": [{"name": "team", "size": 2}], "values": {"v": `+value+`}}`, want)
	}
	for team, want := range map[string]bool{
		`{"name": "a", "size": 2.5}`:                            false,
		`{"name": "a", "size": {"min": 1}}`:                     false,
		`{"name": "a", "size": 2, "copies": 201}`:               false,
		`{"name": "a", "size": 2, "roles": {}}`:                 false,
		`{"name": "", "size": 2}`:                               false,
		`{"size": 2}`:                                           false,
		`{"name": "a", "size": {"min": 1, "max": {"start":2}}}`: true,
	} {
		same(`{"teams": [`+team+`]}`, want)
	}
}

// Odds are skills with uncertainty.
func TestSchemaOfOdds(t *testing.T) {
	valid := validator(t, schema.Rules())
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

func TestSchemaIsPrinted(t *testing.T) {
	shell := newShell(t)
	for flag, files := range map[string]map[string]bool{
		"": {`{"teams": [{"name": "a", "size": 2}]}`: true, `{"teams": [], "skill": 1}`: false},
		"--config": {
			`{"matchmaking": {"config": {"teams": [{"name": "a", "size": 2}]}}, "pools": {}}`: true,
			`{"matchmaking": {"config": {"teams": [{"name": "a", "size": 2.5}]}}}`:            false,
			`{"matchmaking": {"config": {"flexmatch": {}}}}`:                                  true,
		},
	} {
		r := shell.run(strings.Fields("rules schema " + flag)...)
		r.expect(0, `"$id": "urn:matchmaker:rules`, "")
		valid := validator(t, r.out)
		for text, want := range files {
			if err := valid([]byte(text)); (err == nil) != want {
				t.Errorf("%s, schema %s: %v", text, flag, err)
			}
		}
	}
}

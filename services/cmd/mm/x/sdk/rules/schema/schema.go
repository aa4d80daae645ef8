// Package schema has the JSON Schemas of the rule language, draft 7, for editors. They accept what package rules
// parses, but for what a schema cannot say: which names mean something, and what no match can ever satisfy. A member
// that is null counts as absent for the parser; the schema accepts null only where it means something.
package schema

import (
	_ "embed" // of the schema
	"strings"
)

//go:embed schema.json
var ruleSet string

// Rules returns the schema of a rule set.
func Rules() string { return ruleSet }

// Config returns the schema of a config of the function rules: of its matchmaking.config alone. It does not look at
// rule sets in other languages, which are members of it.
func Config() string {
	_, definitions, _ := strings.Cut(ruleSet, "\n  \"definitions\": ")
	return config + definitions
}

const config = `{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "$id": "urn:matchmaker:rules-config:1",
  "title": "A config of the match function rules",
  "type": "object",
  "properties": {
    "matchmaking": {
      "type": "object",
      "properties": {
        "config": {
          "description": "The rule set.",
          "type": "object",
          "if": {
            "anyOf": [
              {"required": ["flexmatch"]}, {"required": ["unity"]},
              {"required": ["playfab"]}, {"required": ["accelbyte"]}
            ]
          },
          "else": {"$ref": "#/definitions/ruleSet"}
        }
      }
    }
  },
  "definitions": `

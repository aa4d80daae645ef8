package main

import (
	"io"

	"matchmaker.dev/pkg/matchfn/rules/schema"
)

type rulesSchema struct {
	Config bool `help:"Print the schema of a config, whose matchmaking.config is a rule set."`
}

func (rulesSchema) Help() string {
	return `The schema tells an editor what a rule set may have, so that it completes and marks as you write: name the file
as "$schema" in the rule set. A config has no such member; tell the editor of its file instead.

Examples:

    mm rules schema > rules.schema.json
    mm rules schema --config > config.schema.json

The schema is JSON Schema, draft 7. It does not know which values and teams there are: mm rules check does.`
}

// Run prints the schema. It is JSON with any --output.
func (c rulesSchema) Run(s *session) error {
	text := schema.Rules()
	if c.Config {
		text = schema.Config()
	}
	_, err := io.WriteString(s.out, text)
	return err
}

package main

import (
	"io"

	"matchmaker.dev/pkg/matchfn/rules/schema"
)

type rulesSchema struct {
	Config bool `help:"Print the schema of a config, whose matchmaking.config is a rule set."`
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

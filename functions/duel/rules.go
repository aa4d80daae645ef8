package main

import (
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// rules are the settings. README.md describes them.
type rules struct {
	waiting.Rules
	refill bool
}

func parseRules(s *matchfn.Settings) (rules, error) {
	s.Only("attribute", "pool", "window", "widen", "maxWindow", "timeout", "refill")
	r := rules{waiting.ParseRules(s), s.Bool("refill", false)}
	return r, s.Err()
}

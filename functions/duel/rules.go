package main

import (
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// rules are the settings. README.md describes them.
type rules struct {
	waiting.Rules
	refill  bool
	measure bool
}

// maxPlayers is the greatest number of players of a side.
const maxPlayers = 500

func parseRules(s *matchfn.Settings) (rules, error) {
	s.Only("attribute", "pool", "players", "window", "widen", "maxWindow", "timeout", "refill", "measure")
	r := rules{waiting.ParseRules(s), s.Bool("refill", false), s.Bool("measure", false)}
	players := s.Int("players", 0)
	if players < 0 || players > maxPlayers || players == 0 && s.Has("players") {
		s.Fail("players", "must be 1 to 500")
	}
	r.Least, r.Most = uint32(players), uint32(players)
	if players == 0 {
		r.Least, r.Most = 1, maxPlayers
	}
	return r, s.Err()
}

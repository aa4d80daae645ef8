package main

import (
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// rules are the settings. README.md describes them.
type rules struct {
	waiting.Rules
	players int
	least   int
	early   float64
	measure bool
}

// opens reports whether a game of n players, of which one has waited so long, is opened.
func (r *rules) opens(n int, wait float64) bool {
	return n >= r.players || n >= r.least && wait >= r.early
}

// maxPlayers is the greatest number of players of a game: no proposal has more tickets.
const maxPlayers = 1000

func parseRules(s *matchfn.Settings) (rules, error) {
	s.Only("attribute", "pool", "players", "least", "early", "window", "widen", "maxWindow", "timeout", "role", "roles",
		"measure")
	r := rules{Rules: waiting.ParseRules(s), players: s.Int("players", 4), early: s.Float("early", 0),
		measure: s.Bool("measure", false)}
	r.least = s.Int("least", r.players)
	r.Most = uint32(max(0, r.players))
	if r.players < 1 || r.players > maxPlayers {
		s.Fail("players", "must be 1 to 1000")
	}
	if r.least < 1 || r.least > r.players {
		s.Fail("least", "must be 1 to players")
	}
	if r.early < 0 {
		s.Fail("early", "must not be negative")
	}
	places := 0
	for _, role := range r.Roles {
		places += role.Places
	}
	if len(r.Roles) > 0 && places != r.players {
		s.Fail("roles", "must have as many places as a game has players")
	}
	return r, s.Err()
}

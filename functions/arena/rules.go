package main

import (
	"math"

	"matchmaker.dev/functions/internal/vacancy"
	"matchmaker.dev/functions/internal/waiting"
	"matchmaker.dev/pkg/matchfn"
)

// rules are the settings; README.md says what they mean.
type rules struct {
	attribute string
	pool      string
	players   int
	least     int
	early     float64
	window    waiting.Window
	timeout   float64
}

// mostPlayers is how many tickets a proposal may have.
const mostPlayers = 1000

func parseRules(s *matchfn.Settings) (rules, error) {
	s.Only("attribute", "pool", "players", "least", "early", "window", "widen", "maxWindow", "timeout")
	r := rules{
		attribute: s.String("attribute", "skill"),
		pool:      s.String("pool", ""),
		players:   s.Int("players", 4),
		early:     s.Float("early", 0),
		window:    waiting.Window{Start: s.Float("window", 100), Widen: s.Float("widen", 10)},
		timeout:   s.Float("timeout", 0),
	}
	r.least = s.Int("least", r.players)
	r.window.Most = s.Float("maxWindow", math.MaxFloat64)
	if r.attribute == "" {
		s.Fail("attribute", "must not be empty")
	}
	if r.attribute == vacancy.Open {
		s.Fail("attribute", "must not be open, which is how many players a game takes")
	}
	if r.players < 1 || r.players > mostPlayers {
		s.Fail("players", "must be 1 to 1000")
	}
	if r.least < 1 || r.least > r.players {
		s.Fail("least", "must be 1 to players")
	}
	for _, setting := range []struct {
		name  string
		value float64
	}{{"early", r.early}, {"window", r.window.Start}, {"widen", r.window.Widen}, {"timeout", r.timeout}} {
		if setting.value < 0 {
			s.Fail(setting.name, "must not be negative")
		}
	}
	if r.window.Most < r.window.Start {
		s.Fail("maxWindow", "must not be less than window")
	}
	return r, s.Err()
}

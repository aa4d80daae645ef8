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
	window    waiting.Window
	timeout   float64
	refill    bool
}

func parseRules(s *matchfn.Settings) (rules, error) {
	s.Only("attribute", "pool", "window", "widen", "maxWindow", "timeout", "refill")
	r := rules{
		attribute: s.String("attribute", "skill"),
		pool:      s.String("pool", ""),
		window:    waiting.Window{Start: s.Float("window", 100), Widen: s.Float("widen", 10)},
		timeout:   s.Float("timeout", 0),
		refill:    s.Bool("refill", false),
	}
	r.window.Most = s.Float("maxWindow", math.MaxFloat64)
	if r.attribute == "" {
		s.Fail("attribute", "must not be empty")
	}
	if r.attribute == vacancy.Open {
		s.Fail("attribute", "must not be open, which is how many players a running game takes")
	}
	if r.window.Start < 0 {
		s.Fail("window", "must not be negative")
	}
	if r.window.Widen < 0 {
		s.Fail("widen", "must not be negative")
	}
	if r.window.Most < r.window.Start {
		s.Fail("maxWindow", "must not be less than window")
	}
	if r.timeout < 0 {
		s.Fail("timeout", "must not be negative")
	}
	return r, s.Err()
}

package main

import (
	"math"

	"matchmaker.dev/functions/internal/vacancy"
	"matchmaker.dev/pkg/matchfn"
)

// rules are the settings; README.md says what they mean.
type rules struct {
	attribute string
	pool      string
	start     float64
	widen     float64
	most      float64
	timeout   float64
	refill    bool
}

func parseRules(s *matchfn.Settings) (rules, error) {
	s.Only("attribute", "pool", "window", "widen", "maxWindow", "timeout", "refill")
	r := rules{
		attribute: s.String("attribute", "skill"),
		pool:      s.String("pool", ""),
		start:     s.Float("window", 100),
		widen:     s.Float("widen", 10),
		timeout:   s.Float("timeout", 0),
		refill:    s.Bool("refill", false),
	}
	r.most = s.Float("maxWindow", math.MaxFloat64)
	if r.attribute == "" {
		s.Fail("attribute", "must not be empty")
	}
	if r.attribute == vacancy.Open {
		s.Fail("attribute", "must not be open, which is how many players a running game takes")
	}
	if r.start < 0 {
		s.Fail("window", "must not be negative")
	}
	if r.widen < 0 {
		s.Fail("widen", "must not be negative")
	}
	if r.most < r.start {
		s.Fail("maxWindow", "must not be less than window")
	}
	if r.timeout < 0 {
		s.Fail("timeout", "must not be negative")
	}
	return r, s.Err()
}

// window returns how far from its own value a ticket's opponent may be, after
// a wait in seconds.
func (r *rules) window(wait float64) float64 {
	window := r.start + r.widen*wait
	if window > r.most { // min would be a call in WebAssembly
		return r.most
	}
	return window
}

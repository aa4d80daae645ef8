package main

import "matchmaker.dev/pkg/matchfn"

// rules are the settings of a config ("matchmaking"."config").
type rules struct {
	teams  int     // how many teams a match has
	size   int     // how many tickets a team has
	spread float64 // how far apart the skills of new tickets may be
	widen  float64 // how much more for each second of waiting
}

// most is how many tickets a match may have.
const most = 100

func parse(s *matchfn.Settings) (rules, error) {
	s.Only("teams", "size", "spread", "widen") // refuses unknown, for example misspelt, names
	u := rules{
		teams:  s.Int("teams", 2),
		size:   s.Int("size", 1),
		spread: s.Float("spread", 100),
		widen:  s.Float("widen", 10),
	}
	if u.teams < 1 || u.teams > most {
		s.Fail("teams", "must be from 1 to 100")
	}
	if u.size < 1 || u.size > most/max(1, u.teams) {
		s.Fail("size", "must be 1 or more, and a match has at most 100 tickets")
	}
	if u.spread < 0 {
		s.Fail("spread", "must not be negative")
	}
	if u.widen < 0 {
		s.Fail("widen", "must not be negative")
	}
	return u, s.Err()
}

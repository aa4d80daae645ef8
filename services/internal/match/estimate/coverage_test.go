package estimate_test

import (
	"math"
	"math/rand/v2"
	"testing"
)

func normal(r *rand.Rand) float64 { return 1500 + 300*r.NormFloat64() }

// tails has many players that are far better or worse than most, and find few opponents.
func tails(r *rand.Rand) float64 { return 1500 + 300*r.NormFloat64()/math.Sqrt(r.ExpFloat64()+0.05) }

// Of all ranges, 75 to 85 % hold, when a ticket is created as well as later, and most tickets get one.
func TestRangesHold(t *testing.T) {
	for name, w := range map[string]world{
		"duels":                      {rate: constant(1), skill: normal, match: duels(5, 2), hours: 2},
		"duels that are rare":        {rate: constant(0.05), skill: normal, match: duels(50, 5), hours: 10},
		"teams":                      {rate: constant(1), skill: normal, match: teams(10), hours: 2},
		"a hundred at a time":        {rate: constant(2), skill: normal, match: teams(100), hours: 3},
		"rises and falls in 2 h":     {rate: wave(1, 0.9, 7200), skill: normal, match: duels(5, 2), hours: 4},
		"rises and falls in 10 min":  {rate: wave(1, 0.9, 600), skill: normal, match: duels(5, 2), hours: 3},
		"teams rise and fall in 1 h": {rate: wave(1, 0.9, 3600), skill: normal, match: teams(10), hours: 4},
		"thin tails of skill":        {rate: constant(1), skill: tails, match: duels(5, 1), hours: 3},
		"many leave":                 {rate: constant(1.5), skill: normal, match: duels(5, 1), leave: 20, hours: 3},
		"all at once": {rate: wave(2, 0.8, 3600), skill: tails, match: duels(5, 1), leave: 60,
			hours: 4},
		"ten times as many and back": {rate: func(now float64) float64 {
			if math.Mod(now, 3600) > 1800 {
				return 0.2
			}
			return 2
		}, skill: normal, match: duels(5, 2), hours: 4},
		"down for 5 min every half hour": {rate: constant(1), skill: normal, match: duels(5, 2), hours: 4,
			closed: func(now float64) bool { return math.Mod(now, 1800) > 1500 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.seed = 7
			r := w.run()
			t.Logf("of %d tickets %d got an estimate: %v; later: %v", r.tickets, r.answered, r.first, r.later)
			if held := r.first.held(); !(held >= 75 && held <= 85) {
				t.Errorf("%v of ranges hold, want 75 to 85 %%", r.first)
			}
			// Few tickets wait long, and their estimates depend on each other.
			if held := r.later.held(); r.later.all >= 1000 && !(held >= 72 && held <= 88) {
				t.Errorf("%v of later ranges hold, want 72 to 88 %%", r.later)
			}
			if r.answered*100 < r.tickets*70 {
				t.Errorf("%d of %d tickets got an estimate, want 70 %% at least", r.answered, r.tickets)
			}
		})
	}
}

// Where few play, where most leave before they are matched, and where matching has stopped, there is no estimate.
func TestNothingIsSaidWhereTooLittleIsKnown(t *testing.T) {
	for name, w := range map[string]world{
		"nobody plays":       {rate: constant(0.002), skill: normal, match: duels(50, 5), hours: 24},
		"nobody is matched":  {rate: constant(1), skill: normal, match: teams(1 << 30), leave: 30, hours: 2},
		"few of those leave": {rate: constant(0.3), skill: tails, match: duels(0.01, 0), leave: 5, hours: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.seed = 7
			if r := w.run(); r.answered > 0 {
				t.Errorf("%d of %d tickets got an estimate", r.answered, r.tickets)
			}
		})
	}
}

// When matches stop, estimates stop soon after.
func TestEstimatesEndWhenNobodyIsMatchedAnyMore(t *testing.T) {
	w := world{rate: constant(1), skill: normal, match: duels(5, 2), hours: 1, seed: 7,
		closed: func(now float64) bool { return now > 1800 }}
	if r := w.run(); r.last < 1700 || r.last > 1800+30 {
		t.Errorf("the last ticket that got an estimate was created at %.0f s; matches ended at 1800 s", r.last)
	}
}

// When the ten-fold come, what was known is no longer said, and soon something else is.
func TestChangeIsNoticed(t *testing.T) {
	change := func(seed uint64, hours float64) result {
		w := world{rate: func(now float64) float64 {
			if now > 1800 {
				return 0.1
			}
			return 2
		}, skill: normal, match: duels(5, 2), hours: hours, seed: seed}
		return w.run()
	}
	if r := change(7, 2); r.last < 7000 {
		t.Errorf("an hour and a half after a change nothing is said: %+v", r)
	}
}

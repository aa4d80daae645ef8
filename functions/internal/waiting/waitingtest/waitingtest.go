// Package waitingtest has what the tests of the ready-made match functions have in common.
package waitingtest

import (
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

// atLimit are values that are as far apart as the window, in decimals: as fractions of two, most are farther.
var atLimit = []struct {
	settings string
	a, b     float64
	wait     float64 // of both, in seconds
}{
	{`"window":0.1,"widen":0}`, 0.3, 0.4, 0}, {`"window":0.1,"widen":0}`, 1500.1, 1500.2, 0},
	{`"window":0.7,"widen":0.1}`, 0.1, 0.9, 1}, {`"window":0,"widen":0.1}`, 1.1, 1.4, 3},
	{`"window":0,"widen":1,"maxWindow":0.2}`, -0.3, -0.1, 9},
}

// DecimalsAtTheLimit tests that a function matches two tickets whose distance is exactly the window in decimals: at
// once, when they come one after the other, when their time comes, and with a running game. The settings begin with
// those given.
func DecimalsAtTheLimit(t *testing.T, f *matchfn.Function, settings string) {
	t.Helper()
	player := func(skill, wait float64) fake.Ticket {
		return fake.Ticket{Wait: time.Duration(wait * float64(time.Second)), Attributes: map[string]float64{"skill": skill}}
	}
	for _, c := range atLimit {
		c.settings = settings + c.settings
		for _, order := range [][2]float64{{c.a, c.b}, {c.b, c.a}} {
			request := fake.Request{Settings: c.settings, Tickets: []fake.Ticket{
				player(order[0], c.wait), player(order[1], c.wait),
			}}
			if proposals, err := fake.Run(f, request); err != nil || len(proposals) != 1 || proposals[0].Score < 0 {
				t.Errorf("%s %v: %+v, %v", c.settings, order, proposals, err)
			}
			game := fake.Ticket{Attributes: map[string]float64{"open": 1, "skill": order[1]}}
			request.Tickets, request.Backfills = request.Tickets[:1], []fake.Backfill{{Ticket: game}}
			if proposals, err := fake.Run(f, request); err != nil || len(proposals) != 1 || proposals[0].Score < 0 {
				t.Errorf("%s %v, in a game: %+v, %v", c.settings, order, proposals, err)
			}
			for _, together := range []bool{false, true} {
				crowd, now := fake.NewCrowd(f, c.settings), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
				for i := range 20 { // so that not all are looked at anew
					crowd.Add(now, player(1e6*float64(i+1), 0))
				}
				run := func() (n int) {
					t.Helper()
					proposals, err := crowd.Run(now)
					if err != nil {
						t.Fatal(err)
					}
					return len(proposals)
				}
				crowd.Add(now, player(order[0], 0))
				if !together {
					run()
				}
				crowd.Add(now, player(order[1], 0))
				if n := run(); c.wait == 0 && n == 1 {
					continue
				}
				if now = now.Add(time.Duration(c.wait * float64(time.Second))); run() != 1 {
					t.Errorf("%s %v, in a crowd: no match", c.settings, order)
				}
			}
			crowd, now := fake.NewCrowd(f, c.settings), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
			crowd.Add(now, player(order[0], c.wait))
			crowd.Backfills = []fake.Backfill{{Ticket: game}}
			if proposals, err := crowd.Run(now); err != nil || len(proposals) != 1 {
				t.Errorf("%s %v, in a game of a crowd: %v, %v", c.settings, order, proposals, err)
			}
		}
	}
}

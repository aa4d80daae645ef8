package fake_test

import (
	"math"
	"testing"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
)

func TestRunRefusesRequestsThatNoRunnerSends(t *testing.T) {
	f := matchfn.New(func(*matchfn.Run) error { return nil })
	for want, r := range map[string]fake.Request{
		`section 4, kind 7 "a": has number 2 of 2`: {
			Tickets: make([]fake.Ticket, 2), Pools: map[string][]uint32{"a": {2}}},
		`section 4, kind 7 "a": has number 1 after 1`: {
			Tickets: make([]fake.Ticket, 2), Pools: map[string][]uint32{"a": {1, 1}}},
		`config is not an object`: {Settings: `[]`},
		`section 4, kind 5 "skill": number 0 is +Inf`: {
			Tickets: []fake.Ticket{{Attributes: map[string]float64{"skill": math.Inf(1)}}}},
		`section 4, kind 13 "open": has number 0 of 0`: {BackfillPools: map[string][]uint32{"open": {0}}},
	} {
		if _, err := fake.Run(f, r); err == nil || err.Error() != "fake request: block: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/judge"
)

// patiently searches a pool with patience, and says what is wrong with what is found: a match that the rules do not
// allow, or a ticket that waits no longer and is left over, although there is a match with it.
func patiently(r *rules.Rules, pool []judge.Ticket) (matches int, wrong string) {
	found := search.Search(r, tickets(pool), nil, plenty)
	left := map[int]bool{}
	for i := range pool {
		left[i] = true
	}
	for _, m := range found {
		if err := judge.Check(r, pool, judged(m)); err != nil {
			return 0, fmt.Sprintf("%+v: %v", m, err)
		}
		for _, team := range m.Teams {
			for _, t := range team.Tickets {
				if !left[int(t)] {
					return 0, fmt.Sprintf("ticket %d is in two matches", t)
				}
				delete(left, int(t))
			}
		}
	}
	var rest []judge.Ticket
	for i, t := range pool {
		if left[i] {
			rest = append(rest, t)
		}
	}
	late := func(t judge.Ticket) bool { return t.Age >= r.Patience.Until }
	for set := range 1 << len(rest) {
		var some []judge.Ticket
		due := false
		for i, t := range rest {
			if set&(1<<i) != 0 {
				some, due = append(some, t), due || late(t)
			}
		}
		if !due {
			continue
		}
		m, ok := judge.Any(r, some)
		for _, team := range m.Teams {
			for _, t := range team.Tickets {
				if ok && late(some[t]) {
					return 0, fmt.Sprintf("%d matches were found, and a ticket of %+v waits no longer: %+v", len(found), m, some)
				}
			}
		}
	}
	return len(found), ""
}

// With patience all matches are allowed, and nobody waits past the last moment who could be in one.
func TestNobodyWaitsPastTheLastMoment(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 5))
		text := world{random}.rules()
		r, err := rules.Parse(text)
		if err != nil {
			return o
		}
		if random.IntN(4) > 0 {
			near := &rules.Spread{Value: "skill", Max: rules.Fixed(8), Scope: rules.Scope{Of: rules.InMatch}}
			r.Rules = append([]rules.Rule{{Name: "near", Need: near}}, r.Rules...)
		}
		if random.IntN(2) > 0 {
			r.Priority = "skill" // then the anchor is not the oldest
		}
		hasty := *r
		r.Patience = &rules.Patience{
			Until: float64(1 + random.IntN(60)), Worth: math.Pow(10, 2+4*random.Float64()), Enough: 0.1 * random.Float64(),
		}
		pool := world{random}.pool(2 + random.IntN(max(1, min(*most, 7)-1)))
		found, wrong := patiently(r, pool)
		if o.kind = "as many"; found < len(search.Search(&hasty, tickets(pool), nil, plenty)) {
			o.kind = "wait"
		}
		if wrong == "" {
			return o
		}
		o.failed = func(t *testing.T) string {
			pool = shrink(pool, func(p []judge.Ticket) bool {
				_, wrong := patiently(r, p)
				return wrong != ""
			})
			_, wrong := patiently(r, pool)
			return fmt.Sprintf("seed %d: %s\n%s", *seed+uint64(i), wrong, rules.Write(r))
		}
		return o
	})
	t.Logf("in %d pools tickets wait, in %d not", counts["wait"], counts["as many"])
	if *cases >= 200 && counts["wait"] < *cases/50 {
		t.Errorf("the cases say little: only in %d pools tickets wait", counts["wait"])
	}
}

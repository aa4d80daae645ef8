package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
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

// With patience all matches are allowed, and no ticket that could be in one waits past the last moment.
func TestNobodyWaitsPastTheLastMoment(t *testing.T) {
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 5))
		text := ruleSet(random, *seed+uint64(i))
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

// Tickets wait for even teams, also where odds are bounded, until their last moment. Where no players come they do not.
func TestTicketsWaitForEvenOdds(t *testing.T) {
	for _, rule := range []string{
		`{"compare": [{"favorite": "skill", "beta": 200}, "<=", 0.95]}`,
		`{"compare": [{"quality": "skill", "beta": 200}, ">=", 0.3]}`,
	} {
		r := parsed(t, `{"values": {"skill": "number"}, "teams": [{"name": "team", "copies": 2, "size": 2}],
			"rules": [`+rule+`], "patience": {"until": 60}}`)
		match := func(strongest float64, ages ...float64) bool {
			var pool []judge.Ticket
			for i, age := range ages {
				pool = append(pool, party(age, 1500, 1))
				if i == 0 {
					pool[0] = party(age, strongest, 1)
				}
			}
			return len(search.Search(r, tickets(pool), nil, plenty)) > 0
		}
		// Others came two seconds ago, and are matched.
		for _, c := range []struct {
			name      string
			strongest float64
			oldest    float64
			want      bool
		}{
			{"even teams", 1500, 2, true},
			{"uneven teams", 1900, 2, false},
			{"uneven teams at the last moment", 1900, 61, true},
		} {
			if got := match(c.strongest, c.oldest, 2, 1, 1); got != c.want {
				t.Errorf("%s: %s: a match %v, want %v", rule, c.name, got, c.want)
			}
		}
	}
}

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

// known is a ticket of players with a skill and a sigma each; NaN for none.
func known(players ...[2]float64) (t judge.Ticket) {
	for _, of := range players {
		p := judge.Player{}
		for i, name := range []string{"skill", "sigma"} {
			if of[i] == of[i] {
				p[name] = of[i]
			}
		}
		t.Players = append(t.Players, p)
	}
	return t
}

// The odds of a match are measured: first odds that rules bound, then odds of preferences, each name once. The quality
// of two teams is the one that is published for TrueSkill.
func TestOddsAreMeasured(t *testing.T) {
	none, player := math.NaN(), [2]float64{25, 25.0 / 3}
	const bounded = `"rules": [
		{"compare": [{"quality": "skill", "deviation": "sigma", "beta": 4.166666666666667}, ">=", 0]},
		{"compare": [{"quality": "skill", "beta": 9}, ">", -1]},
		{"compare": [{"favorite": "skill", "deviation": "sigma", "beta": 4.166666666666667}, "<=", 1]}]`
	const preferred = `"prefer": [{"high": {"quality": "skill", "deviation": "sigma", "beta": 4.166666666666667}}, {"low": {
		"max": {"abs": {"favorite": "skill", "deviation": "sigma", "beta": 4.166666666666667}}}}]`
	for name, c := range map[string]struct {
		tickets []judge.Ticket
		want    string // quality and favourite
	}{
		"equal players":   {[]judge.Ticket{known(player), known(player)}, "[0.447 0.500]"},
		"one far above":   {[]judge.Ticket{known(player), known([2]float64{50, 12.5})}, "[0.110 0.939]"},
		"one against two": {[]judge.Ticket{known(player), known(player, player)}, "[0.135 0.939]"},
		"one of three far above": {
			[]judge.Ticket{known(player), known([2]float64{50, 12.5}), known(player)}, "[0.110 0.939]",
		},
		"nothing is known of one": {[]judge.Ticket{known(player), known([2]float64{none, 1})}, "[-1.000 -1.000]"},
		"one without sigma":       {[]judge.Ticket{known(player), known([2]float64{25, none}, player)}, "[0.447 0.500]"},
		"far too much": {
			[]judge.Ticket{known([2]float64{1e308, 1e308}), known([2]float64{-1e308, 0})}, "[0.000 0.977]",
		},
	} {
		for _, rest := range []string{bounded, preferred} {
			r, err := rules.Parse(fmt.Appendf(nil, `{"values": {"skill": {"missing": "any"}, "sigma": {"missing": "any"}},
				"teams": [{"name": "side", "copies": %d, "size": {"min": 1, "max": 2}}], %s}`, len(c.tickets), rest))
			if err != nil {
				t.Fatal(err)
			}
			if names := fmt.Sprint(search.Measures(r)); names != "[skill quality skill favorite]" {
				t.Errorf("the measures are %s", names)
			}
			found := search.Search(r, tickets(c.tickets), nil, plenty)
			if len(found) != 1 {
				t.Errorf("%s: %d matches are found", name, len(found))
			} else if got := fmt.Sprintf("%.3f", found[0].Measures); got != c.want {
				t.Errorf("%s: got %s, want %s", name, got, c.want)
			}
		}
	}
}

// In a crowd whose tickets are near by another value, teams become even by exchanges, in few steps, also where the
// winner is almost certain before: exchanges do not look at the odds themselves.
func TestCrowdsGetEvenTeams(t *testing.T) {
	for rule, least := range map[string]int{
		`{"favorite": "skill", "deviation": "sigma", "beta": 4}, "<=", 0.7`:   34,
		`{"favorite": "skill", "deviation": "sigma", "beta": 4}, "<", 0.7`:    34,
		`{"quality": "skill", "deviation": "sigma", "beta": 4}, ">=", 0.75`:   34,
		`{"quality": "skill", "deviation": "sigma", "beta": 4}, ">", 0.75`:    34,
		`{"favorite": "skill", "deviation": "sigma", "beta": 1e-9}, "<", 0.9`: 34,
		`{"quality": "skill", "deviation": "sigma", "beta": 4}, ">", 0.99`:    0, // sigma alone is in the way
		`{"favorite": "skill", "deviation": "sigma", "beta": 4}, "<=", 0.5`:   0, // no two sums are equal
	} {
		r, err := rules.Parse([]byte(`{"numbers": ["level", "skill", "sigma"],
			"teams": [{"name": "side", "copies": 2, "size": 5}],
			"rules": [{"spread": "level", "max": 1000}, {"compare": [` + rule + `]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 7))
		var pool []judge.Ticket
		for range 400 {
			one := known([2]float64{1500 + 300*random.NormFloat64(), 1 + 2*random.Float64()})
			one.Players[0]["level"] = float64(random.IntN(1000))
			pool = append(pool, one)
		}
		found := search.Search(r, tickets(pool), nil, 150_000)
		for _, m := range found {
			if err := judge.Check(r, pool, judged(m)); err != nil {
				t.Errorf("%s: %v", rule, err)
			}
		}
		if len(found) < least || least == 0 && len(found) > 0 {
			t.Errorf("%s: %d matches are found", rule, len(found))
		}
	}
}

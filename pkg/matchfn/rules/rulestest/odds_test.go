package rulestest

import (
	"math"
	"testing"

	"matchmaker.dev/pkg/matchfn/rules"
)

// The quality of two teams is the one that is published for TrueSkill, with its defaults: sigma 25/3 and beta 25/6.
func TestOddsAreThoseOfTrueSkill(t *testing.T) {
	type team = [][2]float64 // of each player: mu and sigma
	const sigma = 25.0 / 3
	new1, none := [2]float64{25, sigma}, math.NaN()
	for name, c := range map[string]struct {
		teams             []team
		favorite, quality float64 // below 0 for none
	}{
		"equal players":              {[]team{{new1}, {new1}}, 0.5, math.Sqrt(0.2)},
		"four against four":          {[]team{{new1, new1, new1, new1}, {new1, new1, new1, new1}}, 0.5, math.Sqrt(0.2)},
		"one far above":              {[]team{{new1}, {{50, 12.5}}}, 0.9393, 0.110},
		"two far above two":          {[]team{{{20, 8}, {25, 6}}, {{35, 7}, {40, 5}}}, 0.9727, 0.084},
		"one against two":            {[]team{{new1}, {new1, new1}}, 0.9393, 0.135},
		"the two least even of four": {[]team{{new1}, {new1}, {{50, 12.5}}, {new1}}, 0.9393, 0.110},
		"known for sure":             {[]team{{{25, 0}}, {{25, 0}}}, 0.5, 1},
		"a sigma below 0":            {[]team{{new1, {900, -sigma}}, {new1}}, 0.5, math.Sqrt(0.2)},
		"one without sigma":          {[]team{{new1, {900, none}}, {new1}}, 0.5, math.Sqrt(0.2)},
		"a team without any":         {[]team{{new1}, {{none, sigma}}, {new1}}, 0.5, math.Sqrt(0.2)},
		"one team":                   {[]team{{new1}, {{none, sigma}}}, -1, -1},
		"far too much":               {[]team{{{1e308, 1e308}}, {{-1e308, 1e308}}}, 0.9214, 0},
		"equal, and far too much":    {[]team{{{1e308, 1e308}}, {{1e308, 1e308}}}, 0.5, 0},
		"certain, and far too much":  {[]team{{{1e308, 0}}, {{-1e308, 0}}}, 1, 0},
	} {
		r, err := rules.Parse([]byte(`{
			"values": {"mu": {"missing": "any"}, "sigma": {"missing": "any"}},
			"teams": [{"name": "a", "copies": {"min": 0, "max": 9}, "size": {"min": 0, "max": 9}}],
			"prefer": [
				{"low": {"favorite": "mu", "deviation": "sigma", "beta": 4.166666666666667}},
				{"low": {"quality": "mu", "deviation": "sigma", "beta": 4.166666666666667}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		var pool []Ticket
		var m Match
		for _, players := range c.teams {
			of := Ticket{}
			for _, p := range players {
				one := Player{}
				for i, name := range []string{"mu", "sigma"} {
					if p[i] == p[i] {
						one[name] = p[i]
					}
				}
				of.Players = append(of.Players, one)
			}
			m.Teams = append(m.Teams, Team{Tickets: []int{len(pool)}})
			pool = append(pool, of)
		}
		g := newGame(r, pool, nil, m)
		for i, want := range []float64{c.favorite, c.quality} {
			got, _ := g.numbers(r.Prefer[i].Amount)
			if len(got) == 0 && want < 0 {
				continue
			}
			if len(got) != 1 || !(math.Abs(got[0]-want) < 0.0005) {
				t.Errorf("%s: got %v, want %v", name, got, []float64{c.favorite, c.quality})
			}
		}
	}
}

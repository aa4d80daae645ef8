package function

import (
	"fmt"
	"testing"

	"matchmaker.dev/pkg/matchfn/fake"
)

// The spreads, the gaps and the odds that rules bound are measured of all players, each value once.
func TestBoundsOfRulesAreMeasured(t *testing.T) {
	ticket := func(skills ...float64) (t fake.Ticket) {
		for _, skill := range skills {
			t.Players = append(t.Players, fake.Player{Attributes: map[string]float64{"skill": skill}})
		}
		return t
	}
	const teams = `{"numbers":["skill"],"teams":[{"name":"side","copies":2,"size":2}],"rules":[`
	for rules, want := range map[string]string{
		``: "[]",
		`{"name":"near","spread":"skill","max":500},{"name":"even","gap":"skill","max":500},
			{"name":"nearer","spread":"skill","max":400}`: "[{skill gap 50} " +
			"{skill spread 300}]",
		`{"compare":[{"favorite":"skill","beta":100},"<=",1]},{"compare":[{"favorite":"skill","beta":9},"<",2]},
			{"compare":[{"quality":"skill","beta":100},">",0]},{"compare":[{"quality":"skill","beta":9},"<",1]}`: "[{skill " +
			"favorite 0.6914624612740131} {skill quality 0.8824969025845955}]",
	} {
		proposals, err := fake.Run(function, fake.Request{Settings: teams + rules + `]}`,
			Tickets: []fake.Ticket{ticket(1000, 1300), ticket(1100, 1100)}})
		if err != nil || len(proposals) != 1 {
			t.Fatal(proposals, err)
		}
		if got := fmt.Sprint(proposals[0].Extras.Measures); got != want {
			t.Errorf("with %s it measures %s, want %s", rules, got, want)
		}
	}
}

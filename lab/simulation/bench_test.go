package simulation_test

import (
	"testing"
	"time"

	"matchmaker.dev/services/lab/simulation"
)

// An hour of a game that a million players a day play, one against one: how long a player takes, and a million.
func BenchmarkDuels(b *testing.B) {
	f, err := sharedFixture()
	if err != nil {
		b.Fatal(err)
	}
	s := duels(b, `{"window": 25, "widen": 10}`, 1e6/86400., time.Hour)
	s.Population.Patience = distribution(b, "weibull:147:0.75")
	players, runs := 0, 0
	for b.Loop() {
		r, err := simulation.Run(b.Context(), simulation.Options{Box: f.box, Scenario: s, Seed: 1})
		if err != nil {
			b.Fatal(err)
		}
		players, runs = players+r.Players, runs+r.Runs
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(players), "s/million")
	b.ReportMetric(float64(runs)/float64(players), "runs/player")
}

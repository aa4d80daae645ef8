package simulation_test

import (
	"reflect"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/simulation"
)

// Parts of the time that are simulated beside each other give the same result as one piece.
func TestPartsAreTheWhole(t *testing.T) {
	const differ = "many wait for long, so that parts differ to the end"
	for name, change := range map[string]func(s *simulation.Scenario){
		"impatient": func(s *simulation.Scenario) { s.Population.Patience = distribution(t, "exponential:20") },
		"a part is measured": func(s *simulation.Scenario) {
			s.Population.Patience = distribution(t, "exponential:20")
			s.Measure.From, s.Measure.To = time.Minute, 5*time.Minute
		},
		differ: func(s *simulation.Scenario) {
			s.Configs[0].Settings = []byte(`{"window": 0, "widen": 0.5}`)
			s.Population.Patience = distribution(t, "exponential:200")
		},
		"two configs, and players are asked": func(s *simulation.Scenario) {
			s.Population.Patience = distribution(t, "exponential:20")
			s.Configs = append(s.Configs, &pb.Config{Id: "wide", Function: "duel", Acceptance: 3000,
				Settings: []byte(`{"window": 20, "widen": 1}`)})
			s.Acceptance = simulation.Acceptance{Decline: 0.1, Answer: distribution(t, "uniform:0:2")}
		},
		"by day": func(s *simulation.Scenario) {
			s.Population.Patience, s.Population.Daily = distribution(t, "exponential:20"), true
			s.Population.Hour = 20
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := duels(t, `{"window": 5, "widen": 2}`, 5, 6*time.Minute)
			change(s)
			whole := run(t, s, 3)
			o := simulation.Options{Box: modules(t).box, Scenario: s, Seed: 3, Parts: 3}
			if n, err := simulation.Joined(t.Context(), o); n < 2 && name != differ || err != nil {
				t.Errorf("%d parts are joined, %v", n, err)
			}
			parts, err := simulation.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := comparable(whole), comparable(parts); !reflect.DeepEqual(a, b) {
				a.Waits, a.Matches, b.Waits, b.Matches = nil, nil, nil, nil
				t.Errorf("in one piece %d waits, %d matches, %+v; in parts %d waits, %d matches, %+v; or the waits differ",
					len(whole.Waits), len(whole.Matches), a, len(parts.Waits), len(parts.Matches), b)
			}
		})
	}
}

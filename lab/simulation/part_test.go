package simulation_test

import (
	"reflect"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/lab/simulation"
)

// Parts of the time that are simulated beside each other give the same result as one piece.
func TestPartsAreTheWhole(t *testing.T) {
	const differ = "many wait for long, so that parts differ to the end"
	lasting := 6 * time.Minute
	if testing.Short() {
		lasting = 4 * time.Minute
	}
	for name, change := range map[string]func(s *simulation.Scenario){
		"impatient": func(s *simulation.Scenario) { s.Population.Patience = distribution(t, "exponential:20") },
		"a part is measured": func(s *simulation.Scenario) {
			s.Population.Patience = distribution(t, "exponential:20")
			s.Measure.From, s.Measure.To = lasting/6, lasting*5/6
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
			t.Parallel()
			if testing.Short() && name != differ && name != "a part is measured" {
				t.Skip("make check runs it")
			}
			s := duels(t, `{"window": 5, "widen": 2}`, 5, lasting)
			change(s)
			whole := run(t, s, 3)
			o := simulation.Options{Box: modules(t).box, Scenario: s, Seed: 3, Parts: 3}
			var parts *simulation.Result
			var joined int
			var err error
			if name == differ {
				parts, err = simulation.Run(t.Context(), o)
			} else {
				parts, joined, err = simulation.RunParts(t.Context(), o)
			}
			if err != nil || name != differ && joined < 2 {
				t.Fatalf("%d parts are joined, %v", joined, err)
			}
			if a, b := comparable(whole), comparable(parts); !reflect.DeepEqual(a, b) {
				a.Waits, a.Matches, b.Waits, b.Matches = nil, nil, nil, nil
				t.Errorf("in one piece %d waits, %d matches, %+v; in parts %d waits, %d matches, %+v; or the waits differ",
					len(whole.Waits), len(whole.Matches), a, len(parts.Waits), len(parts.Matches), b)
			}
		})
	}
}

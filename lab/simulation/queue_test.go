package simulation_test

import (
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/lab/simulation"
)

// queues is a scenario with a config for each of two queues, which runs when something happens alone.
func queues(t *testing.T) *simulation.Scenario {
	t.Helper()
	s := duels(t, `{"window": 10, "widen": 0}`, 1, 30*time.Second)
	s.Service.MaxInterval, s.Service.WaitLimit = time.Hour, time.Minute
	s.Configs[0].Queue = "a"
	s.Configs = append(s.Configs, &pb.Config{Id: "other", Function: "duel", Settings: s.Configs[0].GetSettings(),
		Queue: "b"})
	return s
}

func play(t *testing.T, s *simulation.Scenario, l *line) *simulation.Result {
	t.Helper()
	r, err := simulation.Run(t.Context(), simulation.Options{Box: modules(t).box, Scenario: s, Seed: 1, Source: l})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A ticket wakes the configs of its queues, as in a director.
func TestTicketsWakeTheConfigsOfTheirQueues(t *testing.T) {
	t.Parallel()
	for both, want := range map[bool]int{false: 20 + 1, true: 20 + 20} { // each runs at the beginning
		l := new(line)
		for i := range 20 {
			l.come(time.Duration(i)*time.Second, float64(100*i), []string{"a", "b"}[:1+map[bool]int{true: 1}[both]]...)
		}
		if r := play(t, queues(t), l); r.Runs != want || r.Proposed != 0 {
			t.Errorf("in both queues %v: %d runs, want %d; %d proposals", both, r.Runs, want, r.Proposed)
		}
	}
}

// Proposals wait for runs of other queues only where tickets are in several.
func TestProposalsWaitForTheirRivals(t *testing.T) {
	t.Parallel()
	for crossing, want := range map[bool]float64{false: 0.104, true: 0.106} {
		l := new(line)
		if crossing {
			l.come(0, 9000, "a", "b")
		}
		l.come(0, 1500, "a")
		l.come(100*time.Millisecond, 1500, "a") // its run takes four milliseconds
		l.come(102*time.Millisecond, 1500, "b")
		r := play(t, queues(t), l)
		if len(r.Matches) != 1 || len(r.Waits) < 2 || r.Waits[0].Seconds != want {
			t.Errorf("with tickets of both queues %v: %d matches, waits %+v, want %v", crossing, len(r.Matches), r.Waits, want)
		}
	}
}

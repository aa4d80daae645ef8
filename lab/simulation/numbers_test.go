package simulation_test

import (
	"math"
	"testing"
	"time"

	"matchmaker.dev/services/lab/simulation"
)

func TestQuantilesCountPlayers(t *testing.T) {
	var s simulation.Sample
	s.Add(3, 1)
	s.Add(math.NaN(), 5)
	s.Add(1, 2)
	s.Add(2, 7)
	for part, want := range map[float64]float64{0: 1, 0.1: 1, 0.2: 2, 0.5: 2, 0.89: 2, 0.9: 3, 1: 3} {
		if got := s.Quantile(part); got != want {
			t.Errorf("the quantile of %g is %g, not %g", part, got, want)
		}
	}
	if got := s.Mean(); math.Abs(got-1.9) > 1e-9 {
		t.Errorf("the mean is %g", got)
	}
	if none := new(simulation.Sample); !math.IsNaN(none.Quantile(0.5)) || !math.IsNaN(none.Mean()) {
		t.Error("there are quantiles of nothing")
	}
}

// What is different is found, and what is not has no difference.
func TestDifferencesArePaired(t *testing.T) {
	t.Parallel()
	narrow := duels(t, `{"window": 5, "widen": 1}`, 5, shorter(10*time.Minute))
	wide := duels(t, `{"window": 50, "widen": 1}`, 5, shorter(10*time.Minute))
	a, b := run(t, narrow, 1), run(t, wide, 1)
	for _, d := range simulation.Compare(a, a) {
		if d.First == d.First && (d.First != d.Second || d.Mean != 0 || d.Half != 0) {
			t.Errorf("the same scenario differs in %s: %+v", d.Name, d)
		}
	}
	if a.Arrivals != b.Arrivals {
		t.Error("the players are others")
	}
	for _, d := range simulation.Compare(a, b) {
		switch d.Name {
		case "wait p50, s", "mean wait, s":
			if d.Mean+d.Half > -1 || d.Second >= d.First {
				t.Errorf("a wide window waits shorter: %+v", d)
			}
		case "spread":
			if d.Mean-d.Half < 1 || d.Second <= d.First {
				t.Errorf("a wide window has a greater spread: %+v", d)
			}
		case "players a second":
			if d.Mean != 0 || math.Abs(d.First-5) > 0.3 {
				t.Errorf("%+v", d)
			}
		}
	}
}

// Players with rare skills wait longer, and so do those with better matches under a window that widens.
func TestWaitsByDecile(t *testing.T) {
	t.Parallel()
	r := run(t, duels(t, `{"window": 0, "widen": 1}`, 5, shorter(10*time.Minute)), 1)
	waits, upTo := r.Deciles()
	if len(waits) != 10 || math.Abs(upTo[4]-1500) > 30 || math.Abs(upTo[8]-2012) > 50 {
		t.Fatalf("%d deciles, up to %v", len(waits), upTo)
	}
	if low, middle := waits[0].Quantile(0.9), waits[5].Quantile(0.9); low < 1.5*middle {
		t.Errorf("the lowest tenth waits for %g s, the middle for %g", low, middle)
	}
	seconds, spreads := r.Tradeoff(20)
	if len(seconds) != 20 || seconds[19] < 2*seconds[0] || spreads[19] < spreads[0] {
		t.Errorf("waits %v, spreads %v", seconds, spreads)
	}
}

package trial_test

import (
	"testing"

	"matchmaker.dev/services/test/quality/engine"
	"matchmaker.dev/services/test/quality/trial"
	"matchmaker.dev/services/test/quality/world"
)

// What players of a world would be told for how long they wait holds for about four of five of them.
func TestEstimatesHold(t *testing.T) {
	worlds := []string{"evening", "parties"}
	if testing.Short() {
		worlds = worlds[:1] // CI looks at both
	}
	for _, name := range worlds {
		for _, of := range []engine.Name{engine.On(world.Own), engine.Nakama} {
			told, held, players := 0, 0, 0
			for seed := range uint64(2) {
				w, _ := world.Find(name)
				m, err := trial.Play(&w, w.Tickets(seed+1), of, seed+1)
				if err != nil {
					t.Fatal(err)
				}
				told, held, players = told+m.Told, held+m.Held, players+m.Players
			}
			if told < 500 {
				t.Errorf("%s, %s: of %d players only %d were told something", name, of, players, told)
			}
			if share := 100 * float64(held) / float64(told); share < 75 || share > 85 {
				t.Errorf("%s, %s: %.1f %% of %d ranges hold, want 75 to 85", name, of, share, told)
			}
		}
	}
}

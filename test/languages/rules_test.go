package languages

import (
	"math/rand/v2"
	"testing"
)

// Runs that get all tickets anew free what those before left: an instance does not grow from run to run.
func TestRulesFreesWhatEarlierRunsLeft(t *testing.T) {
	const now, tickets, runs, most = 1_900_000_000_000, 100_000, 8, 128 << 20
	crowd := worlds[0]
	request := asked(t, crowd.settings, now, crowd.tickets(rand.New(rand.NewPCG(1, 2)), tickets), nil)
	i := startWithin(t, goModule(t, functions, "./rules"), slow)
	for n := range runs {
		_, stats, err := i.Run(t.Context(), request, 0)
		if err != nil {
			t.Fatal(err)
		}
		if stats.Memory > most {
			t.Fatalf("run %d: the instance has %d bytes of memory, want at most %d", n+1, stats.Memory, most)
		}
	}
}

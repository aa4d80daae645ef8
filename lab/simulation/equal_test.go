package simulation_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/lab/simulation"
)

// Twenty configs over the same tickets run less often than each alone would. All tickets are matched nevertheless, and
// not much later.
func TestManyConfigsOverEqualPoolsNeedFewRuns(t *testing.T) {
	t.Parallel()
	const configs = 20
	s := duels(t, `{"window": 1e9}`, 300, shorter(15*time.Second))
	s.Measure.To = s.Population.Duration - time.Second
	one := run(t, s, 1)
	for i := 1; i < configs; i++ {
		s.Configs = append(s.Configs, &pb.Config{Id: fmt.Sprint("ranked-", i), Function: "duel",
			Settings: s.Configs[0].GetSettings()})
	}
	many := run(t, s, 1)
	if most := 6*one.Runs + 2*configs; many.Runs > most || many.Runs < 2*one.Runs {
		t.Errorf("%d runs of %d configs, and %d of one", many.Runs, configs, one.Runs)
	}
	if n := count(many, simulation.Matched); n != len(many.Waits) || n < len(one.Waits)*9/10 {
		t.Errorf("%d of %d tickets are matched", n, len(many.Waits))
	}
	// The longest interval of so many configs is 67 ms.
	if p99 := many.Whole().Waits.Quantile(0.99); math.IsNaN(p99) || p99 > 0.15 {
		t.Errorf("one in a hundred waits for %.4f s or more", p99)
	}
}

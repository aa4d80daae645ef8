package simulation_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/lab/simulation"
)

// fixture is shared by the tests, so that each module is compiled once.
type fixture struct {
	dir               string
	box               *sandbox.Supervisor
	duel, rules, deaf []byte
}

var sharedFixture = sync.OnceValues(func() (f fixture, err error) {
	if f.dir, err = os.MkdirTemp("", "simulation"); err != nil {
		return f, err
	}
	child, err := sandboxtest.Build(f.dir)
	if err != nil {
		return f, err
	}
	if f.duel, err = sandboxtest.Shipped(f.dir, "../../functions", "duel"); err != nil {
		return f, err
	}
	if f.rules, err = sandboxtest.Shipped(f.dir, "../../functions", "rules"); err != nil {
		return f, err
	}
	if f.deaf, err = sandboxtest.Module(f.dir, ".", "matchmaker.dev/services/runner/testdata/deaf"); err != nil {
		return f, err
	}
	f.box, err = sandbox.New(sandbox.Options{Dir: filepath.Join(f.dir, "box"), Code: sandbox.UserCode(), Binary: child,
		Log:    slog.New(slog.DiscardHandler),
		Limits: sandbox.Limits{Run: time.Minute, Start: time.Minute, Compile: 5 * time.Minute}})
	return f, err
})

func TestMain(m *testing.M) {
	m.Run()
	if f, err := sharedFixture(); err == nil {
		f.box.Close()
		_ = os.RemoveAll(f.dir)
	}
}

func modules(t testing.TB) fixture {
	t.Helper()
	f, err := sharedFixture()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func distribution(t testing.TB, text string) population.Distribution {
	t.Helper()
	d, err := population.ParseDistribution(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// duels is a scenario of duels with these settings, whose players have a skill around 1500.
func duels(t testing.TB, settings string, rate float64, lasting time.Duration) *simulation.Scenario {
	t.Helper()
	return &simulation.Scenario{
		Name:      "duels",
		Configs:   []*pb.Config{{Id: "ranked", Function: "duel", Settings: []byte(settings)}},
		Functions: map[string][]byte{"duel": modules(t).duel},
		Service:   simulation.Defaults(),
		Population: population.Population{Duration: lasting, Rate: rate,
			Attributes: map[string]population.Distribution{"skill": distribution(t, "normal:1500:400")}},
		Measure: simulation.Measure{Attribute: "skill"},
	}
}

// shorter is how long players come, which is half as long with -short.
func shorter(whole time.Duration) time.Duration {
	if testing.Short() {
		return whole / 2
	}
	return whole
}

func run(t *testing.T, s *simulation.Scenario, seed uint64) *simulation.Result {
	t.Helper()
	r, err := simulation.Run(t.Context(), simulation.Options{Box: modules(t).box, Scenario: s, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// count is how many tickets ended so.
func count(r *simulation.Result, how simulation.Outcome) (n int) {
	for _, w := range r.Waits {
		if w.Outcome == how {
			n++
		}
	}
	return n
}

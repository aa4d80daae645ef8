package e2e

import (
	"flag"
	"maps"
	"os"
	"testing"
)

var (
	raceDev = flag.Bool("race-dev", false,
		"dev has the race detector, though the tests have not: they carry what the services say to each other")
	raceServices = flag.Bool("race-services", false, "services have the race detector as well, if dev has it")
)

// TestMain lets more scenarios run side by side than there are processors: they wait more than they work.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// Test builds the programs once and tests the system in both forms, with -short as dev alone. Of these, dev has the
// race detector if the tests have it or it is asked for: all services are in its process. It makes separate processes
// three times as slow.
func Test(t *testing.T) {
	made := build(t)
	separate := made
	if !*raceServices {
		separate = made.withoutRace()
	}
	t.Run("dev", func(t *testing.T) { dev(t, made) })
	if !testing.Short() {
		t.Run("services", func(t *testing.T) { services(t, separate) })
		t.Run("faults", func(t *testing.T) { faults(t, separate) })
	}
	// A process takes its child processes with it, however it ends.
	eventually(t, "no process is left over", func() bool { return len(running(made.dir)) == 0 })
}

// play runs the scenarios in a system, in parallel, and those beside them.
func play(t *testing.T, s *system, beside map[string]func(*testing.T, *project)) {
	scenarios := map[string]func(*testing.T, *project){
		"party":           parties,
		"party-stream":    followParty,
		"live-server":     liveServer,
		"outside":         outside,
		"override":        override,
		"timeout":         timeout,
		"once":            once,
		"oneself":         oneself,
		"patient-get":     patientGet,
		"patient-create":  patientCreate,
		"deleted":         deleteIsFinal,
		"deleted-in-time": deleteDuringMatch,
		"config-deleted":  deleteConfig,
		"config-raced":    changeConfigDuringRun,
		"config-life":     configLife,
		"trap":            trap,
		"hang":            hang,
		"nonsense":        nonsense,
		"hidden":          hidden,
		"crowded":         crowded,
		"besieged":        besieged,
		"flooded":         flooded,
		"rolled-back":     rollback,
		"function-life":   functionLife,
		"canary":          canary,
		"canary-blocks":   canaryOfBlocks,
		"private":         private,
		"shared":          shared,
		"denied":          denyAccess,
		"healthy":         healthy,
		"backfill":        backfill,
		"life":            life,
		"filled":          fillGame,
		"refilled":        refillGame,
		"refilled-rules":  refillByRules,
		"silent-game":     silentGame,
		"short-game":      shortGame,
		"five":            fiveAgainstFive,
		"explained":       explain,
		"patience":        waitForNearer,
		"queues":          queues,
		"seats":           seats,
		"stream":          stream,
		"acceptance":      acceptance,
		"fill-asked":      fillAsked,
		"first-day":       firstDay,
		"queued-game":     queuedGame,
		"unheard":         unheard,
		"insight":         insight,
		"measures":        measures,
		"recorded":        recordTickets,
	}
	maps.Copy(scenarios, beside)
	t.Run("scenario", func(t *testing.T) {
		for name, scenario := range scenarios {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := s.project(t)
				if testing.Short() { // at length, all go on together, and start again together
					t.Cleanup(func() { p.rest(t) })
				}
				scenario(t, p)
			})
		}
	})
}

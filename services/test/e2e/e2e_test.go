package e2e

import "testing"

// Test builds everything once and tests it in each form.
func Test(t *testing.T) {
	made := build(t)
	t.Run("dev", func(t *testing.T) { dev(t, made) })
	t.Run("services", func(t *testing.T) { services(t, made) })
	// However a process ended, those that it had started have ended too.
	eventually(t, "no process is left over", func() bool { return len(running(made.dir)) == 0 })
}

// play plays the scenarios in a system, side by side.
func play(t *testing.T, s *system) {
	scenarios := map[string]func(*testing.T, *project){
		"live-server":     liveServer,
		"outside":         outside,
		"override":        override,
		"timeout":         timeout,
		"once":            once,
		"patient-get":     patientGet,
		"deleted":         deleteIsFinal,
		"deleted-in-time": deleteDuringMatch,
		"config-deleted":  deleteConfig,
		"config-raced":    changeConfigDuringRun,
		"trap":            trap,
		"hang":            hang,
		"nonsense":        nonsense,
		"rolled-back":     rollback,
		"private":         private,
		"denied":          denyAccess,
		"healthy":         healthy,
		"backfill":        backfill,
		"life":            life,
		"filled":          fillGame,
		"refilled":        refillGame,
	}
	t.Run("scenario", func(t *testing.T) {
		for name, scenario := range scenarios {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				scenario(t, s.project(t))
			})
		}
	})
}

package registry

import (
	"errors"
	"time"

	"matchmaker.dev/services/internal/platform/settings"
)

// Settings of the Functions API.
type Settings struct {
	Functions     int           `help:"Most match functions of a project." default:"20" name:"max-functions" group:"runner"`
	Versions      int           `help:"How many uploads of a function are kept, to go back to; the one that runs is one of them. The last one that worked, one in the shadow and those that configs name are kept in any case." default:"5" name:"function-versions" group:"runner"`
	Trial         time.Duration `help:"For how long a new upload of a function goes back to the last one that worked, if its runs fail where runs of the last one do not; 0 means never." default:"1h" name:"function-trial" group:"runner"`
	CompileBudget time.Duration `help:"How long all modules that a project uploads may compile within an hour, in time of one processor. Refused uploads count; 0 means no limit." default:"10m" group:"runner"`
	LogBudget     time.Duration `help:"How long reads of a project's logs may take within a minute, in time of one processor; 0 means no limit." default:"6s" name:"log-read-budget" group:"runner"`
	MachineCode   int           `help:"Most MiB of machine code that the functions of a project may have together, those that run." default:"512" name:"max-machine-code" group:"runner"`
	Modules       int           `help:"Most MiB that the modules of a project may have together, with all uploads that are kept." default:"512" name:"max-modules" group:"runner"`
	AllModules    int           `help:"Most MiB that the modules of all projects may take in NATS. A project may have half of what the others leave." default:"4096" name:"max-modules-total" group:"runner"`
	ModuleGrace   time.Duration `help:"How long a module stays stored that no version of a function has any more." default:"1h" group:"runner"`
}

// Validate names the flags that make no sense. No upload may take as long as ModuleGrace, nor a runner to fetch a
// module.
func (s *Settings) Validate() error {
	var err error
	if s.Functions < 1 || s.Versions < 1 {
		err = errors.New("--max-functions and --function-versions: must be more than 0")
	}
	if s.CompileBudget < 0 || s.LogBudget < 0 || s.Trial < 0 {
		err = errors.Join(err, errors.New("--compile-budget, --log-read-budget and --function-trial: must not be negative"))
	}
	if s.MachineCode < 1 || s.Modules < 1 || s.AllModules < 1 {
		err = errors.Join(err, errors.New(
			"--max-machine-code, --max-modules and --max-modules-total: must be more than 0"))
	}
	return errors.Join(err, settings.Positive(map[string]time.Duration{"module-grace": s.ModuleGrace}))
}

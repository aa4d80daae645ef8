package registry

import "time"

// Settings of the Functions API.
type Settings struct {
	Functions     int           `help:"Most match functions of a project." default:"20" name:"max-functions" bounds:"1.." group:"runner"`
	Versions      int           `help:"How many uploads of a function are kept, to go back to; the one that runs is one of them. The last one that worked, one in the shadow and those that configs name are kept in any case." default:"5" name:"function-versions" bounds:"1.." group:"runner"`
	Trial         time.Duration `help:"For how long a new upload of a function goes back to the last one that worked, if its runs fail where runs of the last one do not; 0 means never." default:"1h" name:"function-trial" bounds:"0.." group:"runner"`
	CompileBudget time.Duration `help:"How long all modules that a project uploads may compile within an hour, in time of one processor. Refused uploads count; 0 means no limit." default:"10m" bounds:"0.." group:"runner"`
	LogBudget     time.Duration `help:"How long reads of a project's logs may take within a minute, in time of one processor; 0 means no limit." default:"6s" name:"log-read-budget" bounds:"0.." group:"runner"`
	MachineCode   int           `help:"Most MiB of machine code that the functions of a project may have together, those that run." default:"512" name:"max-machine-code" bounds:"1.." group:"runner"`
	Modules       int           `help:"Most MiB that the modules of a project may have together, with all uploads that are kept." default:"512" name:"max-modules" bounds:"1.." group:"runner"`
	AllModules    int           `help:"Most MiB that the modules of all projects may take in NATS. A project may have half of what the others leave." default:"4096" name:"max-modules-total" bounds:"1.." group:"runner"`
	ModuleGrace   time.Duration `help:"How long a module stays stored that no version of a function has any more." default:"1h" bounds:">0" group:"runner"`
}

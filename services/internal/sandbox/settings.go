package sandbox

import (
	"time"

	flags "matchmaker.dev/services/internal/platform/settings"
)

// Settings are an operator's settings of a [Supervisor]. Options has more.
type Settings struct {
	Sandbox    string        `help:"Whether to start where match functions cannot be walled in completely, as on systems other than Linux: require it, or prefer it and warn." enum:"require,prefer" default:"${sandbox}" group:"runner"`
	Modules    string        `help:"Private folder for modules and their machine code, not shared with another process; a temporary one when empty." placeholder:"DIR" group:"runner"`
	ModuleCode int           `help:"Most MiB of machine code that a module may become, up to 1024." default:"64" name:"max-module-code" bounds:"1..1024" group:"runner"`
	CacheSize  int           `help:"Most MiB that modules and their machine code may take in --modules, so that they need not be compiled again; those that run stay in any case, see --max-module-disk." default:"1024" name:"module-cache" bounds:"1.." group:"runner"`
	Disk       int           `help:"Most MiB that the modules of all projects that run in this process may take in --modules, with their machine code. A project may have half of what the others leave." default:"3072" name:"max-module-disk" bounds:"1.." group:"runner"`
	CacheAge   time.Duration `help:"How long a module that is not used any more stays in --modules." default:"168h" name:"module-cache-age" bounds:">0" group:"runner"`
}

// InstanceSettings are settings of each instance of a function.
type InstanceSettings struct {
	Memory int `help:"Most MiB of memory of one instance of a function, up to 1024." default:"256" name:"function-memory" group:"runner"`
	// Binary is another one where this process's own has the race detector, which takes more memory than instances may
	// have.
	Binary string `help:"Binary whose processes hold the instances of functions; this one when empty." name:"instance-binary" type:"existingfile" hidden:""`
	// Code is Options.Code, for systems of many processes with modules that their user trusts, as in tests.
	Code string `help:"Folder of machine code that the processes of this user share; none when empty." name:"instance-code" hidden:""`
}

// Options returns the options of a Supervisor with these settings.
func (s *Settings) Options(i InstanceSettings) Options {
	return Options{
		Dir: s.Modules, Code: i.Code, Binary: i.Binary, Require: s.Sandbox == "require",
		Limits: Limits{Memory: i.Memory * mib, Code: s.ModuleCode * mib},
		Cache:  CacheLimits{Age: s.CacheAge, Bytes: int64(s.CacheSize) * mib, Held: int64(s.Disk) * mib},
	}
}

// defaults are the options where nothing is set.
func defaults() Options {
	s := flags.Default[Settings]()
	return s.Options(flags.Default[InstanceSettings]())
}

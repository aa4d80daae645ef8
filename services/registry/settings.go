package registry

import (
	"errors"
	"time"

	"matchmaker.dev/services/internal/settings"
)

// Settings of the Functions API.
type Settings struct {
	Functions   int           `help:"Most match functions of a project." default:"20" name:"max-functions" group:"runner"`
	Versions    int           `help:"How many uploads of a function are kept, to go back to; the one that runs is one of them." default:"5" name:"function-versions" group:"runner"`
	ModuleGrace time.Duration `help:"How long a module stays stored that no version of a function has any more." default:"1h" group:"runner"`
}

// Validate names the flags that make no sense. No upload may take as long as ModuleGrace, nor a runner to fetch a
// module.
func (s *Settings) Validate() error {
	var err error
	if s.Functions < 1 || s.Versions < 1 {
		err = errors.New("--max-functions and --function-versions: must be more than 0")
	}
	return errors.Join(err, settings.Positive(map[string]time.Duration{"module-grace": s.ModuleGrace}))
}

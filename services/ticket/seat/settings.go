package seat

import (
	"fmt"
	"time"

	"matchmaker.dev/services/internal/platform/keyfile"
)

// Settings of seat passes.
type Settings struct {
	Keys string        `help:"File with the private keys that sign seat passes; all processes with the Tickets API share it. 'matchmaker keys seat FILE' makes it. Without it there are no passes, whatever configs say." name:"seat-keys" placeholder:"FILE" group:"tickets"`
	Time time.Duration `help:"How long a seat pass is good from when the result is read: longer than a player takes to connect." name:"seat-time" default:"5m" bounds:"1s.." group:"tickets"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if s.Time > keyfile.MostTime {
		return fmt.Errorf("--seat-time: at most %s: keys are published no longer", keyfile.MostTime)
	}
	return nil
}

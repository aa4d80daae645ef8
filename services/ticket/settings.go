package ticket

import (
	"errors"
	"time"
)

// Settings of the Tickets API.
type Settings struct {
	Wait time.Duration `help:"Longest time that a GET with 'Prefer: wait' is held open." default:"30s" name:"max-wait" group:"tickets"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if s.Wait < 0 {
		return errors.New("--max-wait: must not be negative")
	}
	return nil
}

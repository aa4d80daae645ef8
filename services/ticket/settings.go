package ticket

import (
	"errors"
	"fmt"
	"time"

	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
)

// longestWait is the longest --max-wait: web's server ends a request that is not answered after ReadTimeout.
const longestWait = web.ReadTimeout - 10*time.Second

// Settings of the Tickets API.
type Settings struct {
	Wait       time.Duration   `help:"Longest time that a request with 'Prefer: wait' is held open." default:"30s" name:"max-wait" group:"tickets"`
	Held       int             `help:"How many requests with 'Prefer: wait' one process holds open; a project gets half of what the others leave free. Those beyond are answered at once." default:"20000" name:"max-held" group:"tickets"`
	HeldPlayer int             `help:"How many of them one player may have." default:"16" name:"max-held-player" group:"tickets"`
	Streams    stream.Settings `embed:""`
	Origins    string          `help:"Origins of web pages whose browsers may call what players call, with commas between: https://game.example, or * for all. Empty: none." name:"cors-origins" group:"tickets"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if s.Wait < 0 {
		return errors.New("--max-wait: must not be negative")
	}
	if s.Wait > longestWait {
		return fmt.Errorf("--max-wait: must not be longer than %v, because a request ends after %v", longestWait,
			web.ReadTimeout)
	}
	if s.Held < 0 || s.HeldPlayer < 0 {
		return errors.New("--max-held, --max-held-player: must not be negative")
	}
	if err := s.Streams.Validate(); err != nil {
		return err
	}
	if err := web.CheckOrigins(s.Origins); err != nil {
		return fmt.Errorf("--cors-origins: %w", err)
	}
	return nil
}

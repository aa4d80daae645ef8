package ticket

import (
	"fmt"
	"time"

	"matchmaker.dev/services/internal/edge/stream"
	"matchmaker.dev/services/internal/edge/web"
)

// Settings of the Tickets API. The greatest Wait is 10 s less than web.ReadTimeout.
type Settings struct {
	Wait       time.Duration   `help:"Longest time that a request with 'Prefer: wait' is held open, up to 50s: the server ends a request after 60s." default:"30s" name:"max-wait" bounds:"0..50s" group:"tickets"`
	Held       int             `help:"How many requests with 'Prefer: wait' one process holds open; a project gets half of what the others leave free. Those beyond are answered at once." default:"20000" name:"max-held" bounds:"0.." group:"tickets"`
	HeldPlayer int             `help:"How many of them one player may have." default:"16" name:"max-held-player" bounds:"0.." group:"tickets"`
	Streams    stream.Settings `embed:""`
	Origins    string          `help:"Origins of web pages whose browsers may call what players call, with commas between: https://game.example, or * for all. Empty: none." name:"cors-origins" group:"tickets"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if err := web.CheckOrigins(s.Origins); err != nil {
		return fmt.Errorf("--cors-origins: %w", err)
	}
	return nil
}

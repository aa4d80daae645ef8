package stream

import (
	"errors"
	"time"
)

// Settings of streams. Streams of each kind have places of their own.
type Settings struct {
	Places    int           `help:"How many streams of events of tickets (GET /tickets/events), and as many of parties (GET /parties/{party}/events), one process has open; a project gets half of what the others leave free." default:"20000" name:"max-streams" group:"tickets"`
	PerPlayer int           `help:"How many of either one player may have." default:"4" name:"max-streams-player" group:"tickets"`
	Heartbeat time.Duration `help:"How often a stream sends something while nothing happens." default:"15s" name:"stream-heartbeat" group:"tickets"`
	Spread    time.Duration `help:"Within which time the clients of streams come back that a stopping process ends." default:"10s" name:"stream-spread" group:"tickets"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if s.Places < 0 || s.PerPlayer < 0 {
		return errors.New("--max-streams, --max-streams-player: must not be negative")
	}
	if s.Heartbeat < time.Second || s.Spread <= 0 {
		return errors.New("--stream-heartbeat must be a second or more, and --stream-spread more than 0")
	}
	return nil
}

package insight

import "errors"

// Settings of what studios look at.
type Settings struct {
	Streams int `help:"How many streams of events of projects (GET /events) one process has open; a project gets half of what the others leave free." default:"64" name:"max-event-streams" group:"events"`
}

// Validate names the flag that makes no sense.
func (s *Settings) Validate() error {
	if s.Streams < 0 {
		return errors.New("--max-event-streams: must not be negative")
	}
	return nil
}

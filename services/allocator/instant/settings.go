package instant

import (
	"fmt"

	"matchmaker.dev/services/internal/match/assignment"
)

// Settings of the provider: a flag, and a member of a provider in the file of --hosting.
type Settings struct {
	Connection string `help:"Connection that the instant provider answers." name:"instant-connection" yaml:"connection" default:"127.0.0.1:7777" group:"allocator"`
}

// Validate is called by the parser.
func (s *Settings) Validate() error {
	if reason := assignment.ConnectionProblem(s.Connection, assignment.MaxConnection); reason != "" {
		return fmt.Errorf("--instant-connection (connection): %s", reason)
	}
	return nil
}

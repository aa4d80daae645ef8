package main

import "fmt"

// version is set by the build: -ldflags "-X main.version=…".
var version = "dev"

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(s *session) error {
	_, err := fmt.Fprintln(s.out, "mm", version)
	return err
}

package main

import (
	"context"
	"fmt"
	"os"
)

type ticketCapture struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket's id."`
	Config string `required:"" completion-predictor:"config" help:"The config whose function is run; it must get the ticket."`
	To     string `default:"run.capture" placeholder:"FILE" completion-predictor:"file" help:"The file to write."`
}

func (ticketCapture) Help() string {
	return `The function runs once, and nothing is claimed. The file has the request that it got, with the properties of
all tickets of its pools, and its answer. "mm function test" repeats the run on it. A developer's token is needed, and
the role Support is enough only where the project's settings have support.properties.

Example:

    mm ticket capture 0198f3a2-5c1e-7d40-9a10-0a4be0d0c001 --config ranked
    mm function test duel.zip --capture run.capture`
}

// Run writes the file.
func (c ticketCapture) Run(ctx context.Context, s *session, api developerAPI) error {
	file, err := api.CaptureRun(ctx, c.ID, c.Config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.To, file, 0o600); err != nil {
		return fmt.Errorf("the capture is not written: %w", err)
	}
	return s.showID("capture", "file", c.To)
}

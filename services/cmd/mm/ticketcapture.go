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

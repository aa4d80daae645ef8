package main

import (
	"context"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/test/launch"
	"matchmaker.dev/services/test/workload"
)

// prepare uploads the function, waits until it runs, and puts the config.
func prepare(ctx context.Context, s *launch.Matchmaker, function string) error {
	studio, err := s.Client(auth.Developer, project, "studio")
	if err != nil {
		return err
	}
	if err := s.Upload(ctx, studio, "duel", function); err != nil {
		return err
	}
	config := workload.Config("duel", "skill", 3000, map[string]any{"attribute": "skill", "window": 40, "widen": 200})
	config.Hosting = &client.Hosting{Profile: "demo", FleetID: "local"}
	_, err = studio.PutConfig(ctx, "ranked", config, "")
	return err
}

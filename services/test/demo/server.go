package main

import (
	"context"
	"encoding/json"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/test/launch"
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
	least, most := 0.0, 3000.0
	_, err = studio.PutConfig(ctx, "ranked", client.Config{
		Matchmaking: client.Matchmaking{
			Name:           "Ranked duel",
			TargetFunction: client.FunctionTarget{Name: "duel", Version: "1"},
			Config:         json.RawMessage(`{"attribute": "skill", "window": 40, "widen": 200}`),
		},
		Pools:   map[string][]client.PoolFilter{"everyone": {{Attribute: "skill", Min: &least, Max: &most}}},
		Hosting: &client.Hosting{Profile: "demo", FleetID: "local"},
	}, "")
	return err
}
